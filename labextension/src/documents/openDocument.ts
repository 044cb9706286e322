/** Tells the server about one open document, and answers its requests. */

import type { ISharedNotebook } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { JSONValue } from '@lumino/coreutils';

import type { LooksAtDisk } from './looksAtDisk';
import type { DocumentChange, DocumentRequest, IDocumentAnswer, IToldDocument } from './messages';

import { KnownFile, type TextModel } from './knownFile';
import { Refused } from './located';
import { type IMade, patchNotebook, patchText } from './patches';
import { Saves } from './saves';

type Context = DocumentRegistry.Context;
const WRITTEN_WITHIN = 20_000;
/** Time in which a save lands whose answer was lost, in milliseconds; the server waits for it as long. */
const LANDS_WITHIN = 3000;
const LOOK_AGAIN = 200;

/** A change that the document shows and that its file does not have yet. */
interface IPending {
  change: DocumentChange;
  made: IMade;
  wasDirty: boolean;
  counter: number;
  /** The file's hash before the change, and the one after it; `to` is null where this page saves the file. */
  from: string | null;
  to: string | null;
  /** The file's hash once it is saved as the server asked; undefined as long as no such save was sent. */
  saving?: string;
  /** Lets JupyterLab look at the file, and save it, again. */
  letGo: () => void;
  timer: number;
}

/** Parts of JupyterLab that open documents need. */
export interface ILab {
  looks: LooksAtDisk;
  closeFile(path: string): Promise<void>;
}

export class OpenDocument {
  constructor(
    readonly number: number,
    readonly context: Context,
    private _lab: ILab,
    private _changed: () => void,
    heard: () => Promise<void>
  ) {
    context.model.contentChanged.connect(() => this._counter++, this);
    this._file = new KnownFile(context, _lab.looks);
    this._saves = new Saves(context, _changed, heard);
    // Disposal waits for a save: JupyterLab would tell the person that the save of a closed document failed.
    const disposed = context.dispose.bind(context);
    const dispose = (): void => {
      disposed();
      this._leave();
    };
    context.dispose = () => {
      this._isLeft = true;
      if (this._saves.areUnderWay) {
        void this._saves.ended().then(() => this._isLeft && dispose());
      } else {
        dispose();
      }
    };
  }

  /** Whether it already shows a change whose request is not answered yet. */
  isPatching = false;

  /** Note that a widget shows it (again). */
  shown(): void {
    this._isLeft = false;
  }

  get told(): IToldDocument {
    const { path, model } = this.context;
    return {
      document: this.number,
      path,
      kind: this._file.isConverted ? 'converted' : this._file.kind,
      saved: !model.dirty && !this._saves.areUnderWay,
      hash: this._pending?.to ?? (this._file.isOfPair ? null : this._file.hash),
      counter: this._counter
    };
  }

  /** Do what the server asks, one request after the other; null for a request that expects no answer. */
  handle(request: DocumentRequest): Promise<IDocumentAnswer | null> {
    // A page that was blocked may get the request to save and the one to take it back at the same time.
    if (request.do === 'written' || request.do === 'patch') {
      this._isCalledOff = request.do === 'written' && request.hash === null;
    }
    const answer = this._last.then(() => this._handle(request)).finally(() => (this.isPatching = false));
    this._last = answer.catch(() => undefined);
    return answer.catch((reason: unknown) => ({
      done: false,
      reason: reason instanceof Refused ? reason.reason : 'failed'
    }));
  }

  /** Settle a pending change after the connection was lost: the server has refused one that is not saved by then. */
  disconnected(): Promise<void> {
    this._isCalledOff = true;
    return this.settle();
  }

  /** Check the file itself for a pending change, because the server may never tell the outcome. */
  async settle(): Promise<void> {
    const pending = this._pending;
    if (!pending) {
      return;
    }
    window.clearTimeout(pending.timer);
    try {
      const { to } = pending;
      const hash = to === null ? await this._savedSince(pending) : (await this._file.onDisk()).hash;
      await this._last;
      if (this._pending === pending) {
        await this._written(to === null || hash === to ? (hash ?? null) : null, null);
      }
    } catch {
      if (this._pending === pending) {
        this._settleLater(pending);
      }
    }
  }

  /** The file's hash, if this page has saved it since a change; else null. */
  private async _savedSince(pending: IPending): Promise<string | null> {
    await this._last;
    await this._saves.ended();
    if (this._file.hash !== pending.from) {
      return this._file.hash;
    }
    // The server carries out a save though its answer is lost.
    const late = Date.now() + LANDS_WITHIN;
    while (pending.saving !== undefined && Date.now() < late) {
      if ((await this._file.onDisk()).hash === pending.saving) {
        return pending.saving;
      }
      await new Promise(resolve => window.setTimeout(resolve, LOOK_AGAIN));
    }
    return null;
  }

  private async _handle(request: DocumentRequest): Promise<IDocumentAnswer | null> {
    if (this._isLeft) {
      return { done: false, reason: 'closed' };
    }
    switch (request.do) {
      case 'content':
        return this._content(request.known);
      case 'patch':
        return this._patch(request.hash, request.to, request.change);
      case 'save':
        return this._save(request.to);
      case 'written':
        return (await this._written(request.hash, request.last_modified), null);
      case 'follow':
        return (await this._follow(), null);
      case 'close':
        // Unsaved edits exist nowhere else.
        return (this.context.model.dirty || (await this._lab.closeFile(this.context.path)), null);
    }
  }

  private _content(known: number | null): IDocumentAnswer {
    const shared = this.context.model.sharedModel;
    if (known === this._counter) {
      return { done: true, counter: known };
    }
    if (this._file.kind === 'notebook') {
      const names = (shared as unknown as ISharedNotebook).cells.map(cell => cell.id);
      return { done: true, counter: this._counter, content: this.context.model.toJSON() as JSONValue, names };
    }
    return { done: true, counter: this._counter, content: this.context.model.toString() };
  }

  private async _patch(hash: string | null, to: string | null, change: DocumentChange): Promise<IDocumentAnswer> {
    this._takenBack = null;
    const { looks } = this._lab;
    // Check again, because another save or load may have begun meanwhile.
    while (this._saves.areUnderWay || looks.isLoading(this.context.path)) {
      await this._saves.none();
      await looks.loaded(this.context.path);
    }
    const { model, path } = this.context;
    if (this._isLeft) {
      throw new Refused('closed');
    }
    if (this._file.hash !== hash || this._file.kind !== change.kind) {
      throw new Refused('hash');
    }
    if (this._pending) {
      throw new Refused('busy');
    }
    const wasDirty = model.dirty;
    this.isPatching = true;
    const made = this._apply(change);
    // A change that the server is about to write leaves the document clean, so that no save writes it, too.
    model.dirty = wasDirty || to === null;
    const held = to === null ? [] : [looks.hold(path), this._saves.hold()];
    const letGo = (): void => held.forEach(end => end());
    this._pending = { change, made, wasDirty, counter: this._counter, from: hash, to, letGo, timer: 0 };
    this._settleLater(this._pending);
    return { done: true, counter: this._counter };
  }

  private _settleLater(pending: IPending): void {
    pending.timer = window.setTimeout(() => void this.settle(), WRITTEN_WITHIN);
  }

  private _apply(change: DocumentChange): IMade {
    const shared = this.context.model.sharedModel;
    return change.kind === 'text'
      ? patchText(shared as unknown as TextModel, change)
      : patchNotebook(shared as unknown as ISharedNotebook, change);
  }

  private async _save(to?: string): Promise<IDocumentAnswer> {
    while (this._saves.areUnderWay) {
      await this._saves.none();
    }
    if (this._isLeft) {
      throw new Refused('closed');
    }
    // A change that was taken back is not saved.
    if (this._pending?.to !== null) {
      throw new Refused('busy');
    }
    // The person's later saves wait for this one: the second of two at once would find the file changed.
    await this._saves.note(this._saveUnlessChanged(to));
    return { done: this._file.hash !== null, hash: this._file.hash, counter: this._counter };
  }

  private async _saveUnlessChanged(to?: string): Promise<void> {
    // If the file has changed on the disk, refuse, so that the server reports it: JupyterLab would ask the person.
    const file = await this._file.onDisk();
    if (file.hash !== this._file.hash) {
      throw new Refused('hash');
    }
    // JupyterLab would tell the person that the save of a read-only file failed.
    if (!file.writable) {
      throw new Refused('failed');
    }
    if (this._isCalledOff || this._isLeft) {
      throw new Refused(this._isLeft ? 'closed' : 'busy');
    }
    if (this._pending) {
      this._pending.saving = to;
    }
    await this._lab.looks.save(this.context.path, file, () => this._saves.now());
  }

  private async _written(hash: string | null, lastModified: string | null): Promise<void> {
    const pending = this._pending ?? (hash === null ? null : this._madeAgain());
    if (!pending) {
      // The file has a change that this document refused.
      return hash === null ? undefined : this._follow();
    }
    this._pending = null;
    window.clearTimeout(pending.timer);
    pending.letGo();
    const { model } = this.context;
    if (hash !== null) {
      pending.made.keep();
      this._file.takeOver(hash, lastModified);
      if (pending.to === null && pending.counter === this._counter) {
        model.dirty = false;
      }
    } else {
      const before = this._counter;
      pending.made.takeBack();
      model.dirty = pending.wasDirty || before !== pending.counter;
      this._takenBack = { ...pending, counter: before === pending.counter ? this._counter : NaN };
    }
    this._changed();
    if (hash !== null && this._file.hash !== hash) {
      await this.context.save();
    }
  }

  /** Apply a change again that was taken back here while another page with the same unsaved text was saving it. */
  private _madeAgain(): IPending | null {
    const back = this._takenBack;
    this._takenBack = null;
    if (!back || back.to !== null || back.from !== this._file.hash) {
      return null;
    }
    const isUntouched = back.counter === this._counter;
    const made = this._apply(back.change);
    return { ...back, made, counter: isUntouched ? this._counter : NaN };
  }

  /** Drop the pending change of a closed document: only its file tells the outcome. */
  private _leave(): void {
    window.clearTimeout(this._pending?.timer);
    this._pending?.made.keep();
    this._pending?.letGo();
    this._pending = null;
  }

  /** Bring the document up to its file, unless it has unsaved edits or a pending change. */
  private async _follow(): Promise<void> {
    if (this._saves.areUnderWay) {
      // A save that asks the person may take long.
      void this._saves.ended().then(() => this.handle({ do: 'follow' }));
    } else if (!this.context.model.dirty && !this._pending) {
      await this._file.follow().finally(this._saves.hold());
      this._changed();
    }
  }

  private _file: KnownFile;
  private _saves: Saves;
  private _counter = 0;
  private _isCalledOff = false;
  private _isLeft = false;
  private _pending: IPending | null = null;
  private _takenBack: IPending | null = null;
  private _last: Promise<unknown> = Promise.resolve();
}
