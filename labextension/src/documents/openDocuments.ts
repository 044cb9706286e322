/** Follows the documents that are open in this page. */

import type { ISharedNotebook, YFile } from '@jupyter/ydoc';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import { Signal } from '@lumino/signaling';

import type { DocumentRequest, IDocumentAnswer, IToldDocument } from './messages';

import { type ILab, OpenDocument } from './openDocument';
import { keepEditsInUndo, reloadInPlace } from './undone';

type Context = DocumentRegistry.Context;

/** Follows the documents that `watch` was given, until they are closed. */
export class OpenDocuments implements IDisposable {
  constructor(
    private _contents: Pick<Contents.IManager, 'driveName' | 'fileChanged'>,
    private _lab: ILab
  ) {
    _contents.fileChanged.connect(this._onFile, this);
  }

  /** Resolves once the server has heard the current report, or cannot be reached. */
  heard: () => Promise<void> = () => Promise.resolve();

  /** Emitted when `told` may have changed. */
  readonly changed = new Signal<this, void>(this);

  /** The documents whose files are on the server's disk. */
  get told(): IToldDocument[] {
    return [...this._documents.values()].filter(({ context }) => this._counts(context)).map(({ told }) => told);
  }

  /** Whether a patch is not answered yet: the server hears one message at a time, so a report waits for that answer. */
  get isPatching(): boolean {
    return [...this._documents.values()].some(({ isPatching }) => isPatching);
  }

  /** Do what the server asks of one document. */
  handle(number: number, request: DocumentRequest): Promise<IDocumentAnswer | null> {
    const asked = [...this._documents.values()].find(document => document.number === number);
    return asked?.handle(request) ?? Promise.resolve({ done: false, reason: 'closed' });
  }

  /** Settle pending changes after the connection was lost: the server may or may not have written them. */
  settle(): void {
    this._documents.forEach(document => void document.disconnected());
  }

  /** Bring a document up to its file when a person looks at it. */
  follow(context: Context): void {
    if (this._counts(context)) {
      void this._documents.get(context)?.handle({ do: 'follow' });
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._documents.clear();
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  /** Follow a document; several widgets may show it. */
  watch(context: Context): void {
    const known = this._documents.get(context);
    if (known) {
      return known.shown();
    }
    const document = new OpenDocument(
      this._next++,
      context,
      this._lab,
      () => this._tell(),
      () => this.heard()
    );
    this._documents.set(context, document);
    const { sharedModel } = context.model;
    if ('cells' in sharedModel) {
      keepEditsInUndo(sharedModel as unknown as ISharedNotebook);
    } else if ('ysource' in sharedModel) {
      reloadInPlace(sharedModel as YFile);
    }
    context.model.stateChanged.connect(this._tell, this);
    context.model.contentChanged.connect(this._onContent, this);
    context.pathChanged.connect(this._tell, this);
    context.fileChanged.connect(this._tell, this);
    context.saveState.connect(this._onSave, this);
    context.disposed.connect(this._forget, this);
    void context.ready.then(() => this._tell());
  }

  private _counts({ isReady, model, path }: Context): boolean {
    // The content of a collaborative document is held in a room on the server.
    return isReady && !model.collaborative && this._contents.driveName(path) === '';
  }

  private _onContent(model: DocumentRegistry.IModel): void {
    this._typed.add(model);
  }

  private _onFile(_: unknown, { type, newValue }: Contents.IChangedArgs): void {
    const written = [...this._documents.keys()].filter(({ path }) => type === 'save' && path === newValue?.path);
    written.forEach(({ model }) => this._written.add(model));
  }

  /** Mark a document that was edited during its save as unsaved: JupyterLab takes it for saved when the save ends. */
  private _onSave({ model }: Context, state: DocumentRegistry.SaveState): void {
    if (state === 'started') {
      this._written.delete(model);
      // The content to write is read from the model as soon as all receivers of this signal have run.
      queueMicrotask(() => this._typed.delete(model));
    } else if (state === 'completed' && this._typed.has(model) && this._written.has(model)) {
      // Only after a write: a save that ended by loading the file from disk has written nothing.
      model.dirty = true;
    }
  }

  private _forget(context: Context): void {
    this._documents.delete(context);
    this._tell();
  }

  private _tell(): void {
    this.changed.emit();
  }

  private _documents = new Map<Context, OpenDocument>();
  private _next = 0;
  /** Models that were edited, and models that were written, since their last save began. */
  private _typed = new WeakSet<DocumentRegistry.IModel>();
  private _written = new WeakSet<DocumentRegistry.IModel>();
  private _isDisposed = false;
}
