/** Tells a list where ids were inserted and removed. */

import { Signal } from '@lumino/signaling';

import { equalEnds } from '../equalEnds';

type Step = ReturnType<typeof step>;

function step(type: 'add' | 'remove', index: number, ids: string[]) {
  return type === 'add'
    ? { type, newIndex: index, newValues: ids, oldIndex: -1, oldValues: [] }
    : { type, newIndex: -1, newValues: [], oldIndex: index, oldValues: ids };
}

/** Reports where ids were inserted and removed, so that the heights of all others stay known. */
export class Ids {
  readonly changed = new Signal<this, Step>(this);

  get length(): number {
    return this._ids.length;
  }

  get(index: number): string {
    return this._ids[index];
  }

  indexOf(id: string): number {
    return this._ids.indexOf(id);
  }

  /** Replace the ids. */
  become(ids: string[]): void {
    const known = this._ids;
    const [start, end] = equalEnds(known.length, ids.length, (at, other) => known[at] === ids[other]);
    const gone = known.slice(start, known.length - end);
    const come = ids.slice(start, ids.length - end);
    this._ids = ids;
    if (gone.length) {
      this.changed.emit(step('remove', start, gone));
    }
    if (come.length) {
      this.changed.emit(step('add', start, come));
    }
  }

  private _ids: string[] = [];
}
