/** Tells the server about one open document, and answers its requests. */

import type { ISharedNotebook, ISharedText } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { JSONObject, JSONValue } from '@lumino/coreutils';
import type { Signal } from '@lumino/signaling';

import type { LooksAtDisk } from './looksAtDisk';
import type { DocumentChange, DocumentRequest, IDocumentAnswer, IToldDocument } from './messages';

import { isRunning } from './cellList';
import { type IMade, patchNotebook, patchText, Refused } from './patches';
import { reconcileNotebook, reconcileText } from './reconcile';

type Context = DocumentRegistry.Context;
type TextModel = ISharedText & { transact(act: () => void, undoable?: boolean): void };
/** A contents model with the file's hash, which servers tell from Jupyter Server 2.11 on. */
type Hashed = Contents.IModel & { hash?: string | null };

/** How long the hash of a file is; jupytext tells those of both files of a pair in one. */
const HASH_LENGTH = 64;
const SAVE_WITHIN = 2000;
const WRITTEN_WITHIN = 20_000;

/** A change that the document shows and that its file does not have yet. */
interface IPending {
  made: IMade;
  wasDirty: boolean;
  counter: number;
  /** The hash that the file had, and the one that it will have; null where this page saves it. */
  from: string | null;
  to: string | null;
  letLook: () => void;
  timer: number;
}

/** What open documents need of JupyterLab. */
export interface ILab {
  contents: Pick<Contents.IManager, 'fileChanged'>;
  looks: LooksAtDisk;
  closeFile(path: string): Promise<void>;
}

export class OpenDocument {
  constructor(
    readonly number: number,
    readonly context: Context,
    private _lab: ILab,
    private _changed: () => void,
    private _heard: () => Promise<void>
  ) {
    context.model.contentChanged.connect(() => this._counter++, this);
    context.fileChanged.connect(() => (this._lastHash = this._hash ?? this._lastHash), this);
    context.pathChanged.connect(() => queueMicrotask(() => this._keepHash()), this);
    this._saveNow = context.save.bind(context);
    context.save = () => this._noted(this._saveAlone([...this._saving]));
    // Of a document that is closed while it is saved, JupyterLab tells its person that this failed.
    const disposed = context.dispose.bind(context);
    const dispose = (): void => {
      disposed();
      this._leave();
    };
    context.dispose = () => {
      this._isLeft = true;
      if (this._saving.size) {
        void Promise.all(this._saving).then(() => this._isLeft && dispose());
      } else {
        dispose();
      }
    };
  }

  /** Whether it shows a change by now that is not answered yet. */
  isPatching = false;

  /** A widget shows it (again). */
  shown(): void {
    this._isLeft = false;
  }

  get told(): IToldDocument {
    const { path, model } = this.context;
    return {
      document: this.number,
      path,
      kind: this._isConverted ? 'converted' : this.kind,
      saved: !model.dirty && !this._saving.size,
      hash: this._pending?.to ?? (this._isOfPair ? null : this._hash),
      counter: this._counter
    };
  }

  get kind(): Exclude<IToldDocument['kind'], 'converted'> {
    const { contentsModel, model } = this.context;
    if ('cells' in model.sharedModel) {
      return 'notebook';
    }
    // Once it was saved, JupyterLab does not know it any more.
    this._format = contentsModel?.format ?? this._format;
    return this._format === 'text' && 'updateSource' in model.sharedModel ? 'text' : 'other';
  }

  /** What is saved is not what a notebook's file has: jupytext writes a text, or a text beside it. */
  private get _isConverted(): boolean {
    return this.kind === 'notebook' && (!this.context.path.endsWith('.ipynb') || this._isOfPair);
  }

  private get _isOfPair(): boolean {
    return (this._hash?.length ?? 0) > HASH_LENGTH;
  }

  /** Do what the server asks, one request after the other; null where it waits for no answer. */
  handle(request: DocumentRequest): Promise<IDocumentAnswer | null> {
    // A page that hung finds the request to save and the one to take back at the same time.
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

  /** The server may never say what became of a change: see by the file itself whether it has it. */
  async settle(): Promise<void> {
    const pending = this._pending;
    if (!pending) {
      return;
    }
    window.clearTimeout(pending.timer);
    try {
      const { from, to } = pending;
      const hash = to === null ? await this._savedSince(from) : (await this._onDisk()).hash;
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

  /** The hash of the file, if this page saved it since it had another one. */
  private async _savedSince(from: string | null): Promise<string | null> {
    await this._last;
    await Promise.all(this._saving);
    return this._hash === from ? null : this._hash;
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
        return this._save();
      case 'written':
        return (await this._written(request.hash, request.last_modified), null);
      case 'follow':
        return (await this._follow(), null);
      case 'close':
        // What was typed just now is nowhere else.
        return (this.context.model.dirty || (await this._lab.closeFile(this.context.path)), null);
    }
  }

  private _content(known: number | null): IDocumentAnswer {
    const shared = this.context.model.sharedModel;
    if (known === this._counter) {
      return { done: true, counter: known };
    }
    if (this.kind === 'notebook') {
      const names = (shared as unknown as ISharedNotebook).cells.map(cell => cell.id);
      return { done: true, counter: this._counter, content: this.context.model.toJSON() as JSONValue, names };
    }
    return { done: true, counter: this._counter, content: this.context.model.toString() };
  }

  private async _patch(hash: string | null, to: string | null, change: DocumentChange): Promise<IDocumentAnswer> {
    await this._noSave();
    const { model, path } = this.context;
    if (this._isLeft) {
      throw new Refused('closed');
    }
    if (this._hash !== hash || this.kind !== change.kind) {
      throw new Refused('hash');
    }
    if (this._pending) {
      throw new Refused('busy');
    }
    const wasDirty = model.dirty;
    this.isPatching = true;
    const made = this._apply(change);
    // Nobody's save writes what the server is about to write.
    model.dirty = wasDirty || to === null;
    const letLook = to === null ? (): void => undefined : this._lab.looks.hold(path);
    this._pending = { made, wasDirty, counter: this._counter, from: hash, to, letLook, timer: 0 };
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

  private async _save(): Promise<IDocumentAnswer> {
    // Checked again: one may have begun in the step of the page between the two.
    while (this._saving.size) {
      await this._noSave();
    }
    if (this._isLeft) {
      throw new Refused('closed');
    }
    // What was taken back is not saved any more.
    if (this._pending?.to !== null) {
      throw new Refused('busy');
    }
    // A save of its person's that begins from now on waits for this one: the second of two finds the file changed.
    await this._noted(this._saveUnlessChanged());
    return { done: this._hash !== null, hash: this._hash, counter: this._counter };
  }

  private async _saveUnlessChanged(): Promise<void> {
    // JupyterLab asks its person where the file was changed on the disk: that is for the server to refuse.
    const { hash, writable } = await this._onDisk();
    if (hash !== this._hash) {
      throw new Refused('hash');
    }
    // Nor is a save begun of which JupyterLab tells its person that it failed.
    if (!writable) {
      throw new Refused('failed');
    }
    if (this._isCalledOff || this._isLeft) {
      throw new Refused(this._isLeft ? 'closed' : 'busy');
    }
    await this._saveNow();
  }

  private async _written(hash: string | null, lastModified: string | null): Promise<void> {
    const pending = this._pending;
    if (!pending) {
      return;
    }
    this._pending = null;
    window.clearTimeout(pending.timer);
    pending.letLook();
    const { model } = this.context;
    if (hash !== null) {
      pending.made.keep();
      this._takeOver(hash, lastModified);
      if (pending.to === null && pending.counter === this._counter) {
        model.dirty = false;
      }
    } else {
      const before = this._counter;
      pending.made.takeBack();
      model.dirty = pending.wasDirty || before !== pending.counter;
    }
    this._changed();
    if (hash !== null && this._hash !== hash) {
      await this.context.save();
    }
  }

  /** Nobody sees the document any more: its file alone tells what became of its change. */
  private _leave(): void {
    window.clearTimeout(this._pending?.timer);
    this._pending?.made.keep();
    this._pending?.letLook();
    this._pending = null;
  }

  /** The answer to a rename has no hash, and the context forgets the one that it had; the file has the same bytes. */
  private _keepHash(): void {
    if (this._hash === null && this._lastHash !== null) {
      this._takeOver(this._lastHash, this.context.contentsModel?.last_modified ?? null);
    }
  }

  /** Have the document's context know the file as it is now: it learns that when a file is renamed. */
  private _takeOver(hash: string, lastModified: string | null): void {
    const { contentsModel, path } = this.context;
    if (contentsModel && this._hash !== hash) {
      const last_modified = lastModified ?? new Date().toISOString();
      const newValue = { ...contentsModel, hash, last_modified };
      const changed = this._lab.contents.fileChanged as Signal<unknown, Contents.IChangedArgs>;
      changed.emit({ type: 'rename', oldValue: { path }, newValue });
    }
  }

  /** Show what the file has by now. */
  private async _follow(): Promise<void> {
    await this._noSave();
    const { context } = this;
    const { model, path } = context;
    if (model.dirty || this._pending || (await this._onDisk()).hash === this._hash) {
      return;
    }
    const { format, type } = context.contentsModel ?? {};
    const asked = { content: true, hash: true, ...(format ? { format } : {}), ...(type ? { type } : {}) };
    const file = (await this._lab.looks.get(path, asked)) as Hashed;
    if (model.dirty || context.isDisposed) {
      return;
    }
    if (this._reconcile(file) && typeof file.hash === 'string') {
      this._takeOver(file.hash, file.last_modified);
      model.dirty = false;
    } else if (!this._runs) {
      await context.revert();
    }
    this._changed();
  }

  private _reconcile(file: Contents.IModel): boolean {
    const shared = this.context.model.sharedModel;
    if (this.kind === 'notebook') {
      // Cells that are made of a text have other ids each time.
      return (
        this.context.path.endsWith('.ipynb') &&
        reconcileNotebook(shared as unknown as ISharedNotebook, file.content as JSONObject)
      );
    }
    // How its lines end is known to the context alone.
    if (this.kind !== 'text' || typeof file.content !== 'string' || file.content.includes('\r')) {
      return false;
    }
    const text = shared as unknown as TextModel;
    text.transact(() => reconcileText(text, file.content as string), false);
    return true;
  }

  private get _runs(): boolean {
    return (
      this.kind === 'notebook' && (this.context.model.sharedModel as unknown as ISharedNotebook).cells.some(isRunning)
    );
  }

  private get _hash(): string | null {
    return (this.context.contentsModel as Hashed | null)?.hash ?? null;
  }

  private async _onDisk(): Promise<Hashed> {
    return (await this._lab.looks.get(this.context.path, { content: false, hash: true })) as Hashed;
  }

  /**
   * JupyterLab looks whether the file has changed, and then writes it: what a tool writes in between would be lost. So
   * the server first hears of it, as of an unsaved document. Nor does a save find the file changed by an earlier one.
   */
  private async _saveAlone(earlier: readonly Promise<void>[]): Promise<void> {
    await Promise.all(earlier);
    this._changed();
    await this._heard();
    await this._saveNow();
  }

  /** Not by its signal: what its person calls off is told by the promise alone, and one save may overtake another. */
  private _noted(saved: Promise<void>): Promise<void> {
    const noted = saved.finally(() => {
      this._saving.delete(ended);
      this._changed();
    });
    const ended = noted.catch(() => undefined);
    this._saving.add(ended);
    return noted;
  }

  /** Wait until no save is under way: it would write what was there before. One that asks its person may take long. */
  private async _noSave(): Promise<void> {
    const late = new Promise<boolean>(resolve => window.setTimeout(() => resolve(true), SAVE_WITHIN));
    while (this._saving.size) {
      if ((await Promise.race([Promise.all(this._saving), late])) === true) {
        throw new Refused('busy');
      }
    }
  }

  /** JupyterLab's own way. */
  private _saveNow: () => Promise<void>;
  private _format: string | null = null;
  private _lastHash: string | null = null;
  private _counter = 0;
  private _isCalledOff = false;
  private _isLeft = false;
  private _saving = new Set<Promise<void>>();
  private _pending: IPending | null = null;
  private _last: Promise<unknown> = Promise.resolve();
}
