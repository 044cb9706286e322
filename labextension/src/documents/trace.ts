/** Undoes a change of a text in which a person has typed since. */

import type { Delta } from '@jupyter/ydoc';
import type { ISignal } from '@lumino/signaling';

import type { Span } from './messages';

/** A text of JupyterLab's models: of a cell, or of a file. */
export interface ITracedText {
  readonly changed: ISignal<unknown, { sourceChange?: Delta<string> }>;
  getSource(): string;
  updateSource(start: number, end: number, value: string): void;
}

/** A place where text was removed, and the ranges that are left of the text inserted there. */
interface IPlace {
  at: number;
  removed: string;
  own: [start: number, end: number][];
}

/** Follows one change of a text, until it is kept or taken back. */
export class Trace {
  /**
   * @param _text - already contains the change, and has signalled it.
   * @param spans - the change, by the offsets before it.
   */
  constructor(
    private _text: ITracedText,
    spans: readonly Span[]
  ) {
    let shift = 0;
    this._places = spans.map(([offset, removed, inserted]) => {
      const at = offset + shift;
      shift += inserted.length - removed.length;
      return { at, removed, own: inserted ? [[at, at + inserted.length]] : [] };
    });
    this._source = _text.getSource();
    _text.changed.connect(this._onChanged, this);
  }

  /** Continue in a copy that replaces the text, e.g. after its cell was dragged; ignore a copy that differs. */
  follow(copy: ITracedText): void {
    if (copy !== this._text && copy.getSource() === this._source) {
      this.keep();
      this._text = copy;
      copy.changed.connect(this._onChanged, this);
    }
  }

  keep(): void {
    this._text.changed.disconnect(this._onChanged, this);
  }

  /** Take the change back; do nothing in a text that is gone. */
  takeBack(): void {
    this.keep();
    if (this._text.getSource() !== this._source) {
      return;
    }
    for (const { at, removed, own } of [...this._places].reverse()) {
      for (const [start, end] of [...own].reverse()) {
        this._text.updateSource(start, end, '');
      }
      this._text.updateSource(at, at, removed);
    }
  }

  private _onChanged(_: unknown, { sourceChange }: { sourceChange?: Delta<string> }): void {
    let at = 0;
    for (const { retain, insert, delete: deleted } of sourceChange ?? []) {
      if (insert !== undefined) {
        this._places.forEach(place => insertInto(place, at, insert.length));
      }
      if (deleted !== undefined) {
        this._places.forEach(place => deleteFrom(place, at, deleted));
      }
      at += (retain ?? 0) + (insert?.length ?? 0);
    }
    this._source = this._text.getSource();
  }

  private _places: IPlace[];
  private _source: string;
}

function insertInto(place: IPlace, at: number, length: number): void {
  if (at < place.at || (at === place.at && place.own.length > 0)) {
    place.at += length;
  }
  place.own = place.own.flatMap<[number, number]>(([start, end]) => {
    if (at <= start) {
      return [[start + length, end + length]];
    }
    return at < end
      ? [
          [start, at],
          [at + length, end + length]
        ]
      : [[start, end]];
  });
}

function deleteFrom(place: IPlace, at: number, length: number): void {
  const moved = (offset: number) => Math.max(Math.min(offset, at), offset - length);
  place.at = moved(place.at);
  place.own = place.own
    .map<[number, number]>(([start, end]) => [moved(start), moved(end)])
    .filter(([start, end]) => start < end);
}
