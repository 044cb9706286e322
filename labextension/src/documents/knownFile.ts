/** Keeps what an open document's context knows of its file, and brings the document up to it. */

import type { ISharedNotebook, ISharedText } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import type { LooksAtDisk } from './looksAtDisk';
import type { IToldDocument } from './messages';

import { isRunning } from './cellList';
import { reconcileNotebook, reconcileText } from './reconcile';

export type TextModel = ISharedText & { transact(act: () => void, undoable?: boolean): void };

/** A contents model with the file's hash, which Jupyter Server sends from 2.11 on. */
type Hashed = Contents.IModel & { hash?: string | null };

/** JupyterLab's context, which has no public setter for what it knows of its file. */
interface IUpdated {
  _updateContentsModel?(known: Omit<Hashed, 'content'>): void;
}

/** Characters of a file's hash; jupytext joins the hashes of both files of a pair. */
const HASH_LENGTH = 64;

export class KnownFile {
  constructor(
    private _context: DocumentRegistry.Context,
    private _looks: LooksAtDisk
  ) {
    this._learn();
    _context.fileChanged.connect(this._learn, this);
    _context.pathChanged.connect(() => queueMicrotask(() => this._keepHash()), this);
  }

  /** The hash of the file as it was last loaded or saved; null if unknown. */
  get hash(): string | null {
    return (this._context.contentsModel as Hashed | null)?.hash ?? null;
  }

  get kind(): Exclude<IToldDocument['kind'], 'converted'> {
    const { sharedModel } = this._context.model;
    if ('cells' in sharedModel) {
      return 'notebook';
    }
    return this._format === 'text' && 'updateSource' in sharedModel ? 'text' : 'other';
  }

  /** Whether a save writes a text instead of the notebook's file, or beside it, as jupytext does. */
  get isConverted(): boolean {
    return this.kind === 'notebook' && (!this._context.path.endsWith('.ipynb') || this.isOfPair);
  }

  get isOfPair(): boolean {
    return (this.hash?.length ?? 0) > HASH_LENGTH;
  }

  /** The file as it is now, without its content. */
  async onDisk(): Promise<Hashed> {
    return (await this._looks.get(this._context.path, { content: false, hash: true })) as Hashed;
  }

  /**
   * Tell the document's context the file's current hash and time. A rename event would do that too, but in each context
   * of the path: another one with unsaved edits would then save over a file that it does not know.
   */
  takeOver(hash: string, lastModified: string | null): void {
    const { contentsModel } = this._context;
    if (contentsModel && this.hash !== hash) {
      const last_modified = lastModified ?? new Date().toISOString();
      (this._context as unknown as IUpdated)._updateContentsModel?.({ ...contentsModel, hash, last_modified });
    }
  }

  /** Bring a saved document up to its current file. */
  async follow(): Promise<void> {
    const { contentsModel, model, path } = this._context;
    if ((await this.onDisk()).hash === this.hash) {
      return;
    }
    const [format, type] = [this._format, contentsModel?.type];
    const asked = { content: true, hash: true, ...(format ? { format } : {}), ...(type ? { type } : {}) };
    const file = (await this._looks.get(path, asked)) as Hashed;
    if (model.dirty || this._context.isDisposed) {
      return;
    }
    if (this._reconcile(file) && typeof file.hash === 'string') {
      this.takeOver(file.hash, file.last_modified);
    } else if (!this._runs) {
      await this._looks.load(path, file, () => this._context.revert());
    } else {
      return;
    }
    model.dirty = false;
  }

  private _reconcile(file: Contents.IModel): boolean {
    const shared = this._context.model.sharedModel;
    if (this.kind === 'notebook') {
      // Cells that are made from a text get new ids each time.
      return (
        this._context.path.endsWith('.ipynb') &&
        reconcileNotebook(shared as unknown as ISharedNotebook, file.content as JSONObject)
      );
    }
    if (this.kind !== 'text' || typeof file.content !== 'string') {
      return false;
    }
    const ending = endingOf(file.content);
    // JupyterLab's own revert does not change a document whose file is empty.
    const isSame = this._loadedEnding === ending || !file.content;
    if (isSame) {
      const text = shared as unknown as TextModel;
      text.transact(() => reconcileText(text, file.content.split(ending).join('\n')), false);
    }
    return isSame;
  }

  /** The line ending with which the context saves, and which only a load changes. */
  private get _loadedEnding(): string {
    return (this._context as { _lineEnding?: string | null })._lineEnding ?? '\n';
  }

  private get _runs(): boolean {
    const { sharedModel } = this._context.model;
    return this.kind === 'notebook' && (sharedModel as unknown as ISharedNotebook).cells.some(isRunning);
  }

  /** Remember format and hash: the context forgets them if the answer to a save or rename lacks them. */
  private _learn(): void {
    this._format = this._context.contentsModel?.format ?? this._format;
    this._lastHash = this.hash ?? this._lastHash;
  }

  /** Restore the hash after a rename: its answer has none, but the file still has the same bytes. */
  private _keepHash(): void {
    if (this.hash === null && this._lastHash !== null) {
      this.takeOver(this._lastHash, this._context.contentsModel?.last_modified ?? null);
    }
  }

  private _format: Contents.FileFormat = null;
  private _lastHash: string | null = null;
}

/** How a file's lines end, as JupyterLab sees it. */
function endingOf(content: string): string {
  return ['\r\n', '\r'].find(ending => content.includes(ending)) ?? '\n';
}
