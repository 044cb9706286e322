/** The documents that are open in this page, and which of them hold what is saved nowhere. */

import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import { Signal } from '@lumino/signaling';

type Context = DocumentRegistry.Context;

/** Follows the documents it is told of, until they are closed. */
export class OpenDocuments implements IDisposable {
  constructor(private _contents: Pick<Contents.IManager, 'driveName' | 'fileChanged'>) {
    _contents.fileChanged.connect(this._onFile, this);
  }

  /** Emitted when `unsaved` may be another. */
  readonly changed = new Signal<this, void>(this);

  /** The files on the server's disk, by their contents path, that hold unsaved changes here; each once. */
  get unsaved(): string[] {
    const unsaved = [...this._contexts].filter(context => this._isUnsaved(context));
    return [...new Set(unsaved.map(context => context.path))].sort();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._contexts.clear();
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  /** Follow a document; several widgets may show it. */
  watch(context: Context): void {
    if (this._contexts.has(context)) {
      return;
    }
    this._contexts.add(context);
    context.model.stateChanged.connect(this._tell, this);
    context.model.contentChanged.connect(this._onContent, this);
    context.pathChanged.connect(this._tell, this);
    context.saveState.connect(this._onSave, this);
    context.disposed.connect(this._forget, this);
    void context.ready.then(() => this._tell());
  }

  private _isUnsaved({ isReady, model, path }: Context): boolean {
    // What is edited together has its truth in a room on the server.
    return isReady && model.dirty && !model.collaborative && this._contents.driveName(path) === '';
  }

  private _onContent(model: DocumentRegistry.IModel): void {
    this._typed.add(model);
  }

  private _onFile(_: unknown, { type, newValue }: Contents.IChangedArgs): void {
    const written = [...this._contexts].filter(({ path }) => type === 'save' && path === newValue?.path);
    written.forEach(({ model }) => this._written.add(model));
  }

  /** JupyterLab takes a document for saved once a save is through, even if its person went on typing meanwhile. */
  private _onSave({ model }: Context, state: DocumentRegistry.SaveState): void {
    if (state === 'started') {
      this._written.delete(model);
      // What is written is taken from the model as soon as all have heard of this.
      queueMicrotask(() => this._typed.delete(model));
    } else if (state === 'completed' && this._typed.has(model) && this._written.has(model)) {
      // A save that ended with what is on disk in the model has written nothing.
      model.dirty = true;
    }
  }

  private _forget(context: Context): void {
    this._contexts.delete(context);
    this._tell();
  }

  private _tell(): void {
    this.changed.emit();
  }

  private _contexts = new Set<Context>();
  /** What has changed, and what was written, since the last save began. */
  private _typed = new WeakSet<DocumentRegistry.IModel>();
  private _written = new WeakSet<DocumentRegistry.IModel>();
  private _isDisposed = false;
}
