import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents, ServiceManager } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import { YNotebook } from '@jupyter/ydoc';
import { Context, DocumentModel, TextModelFactory } from '@jupyterlab/docregistry';
import { Signal } from '@lumino/signaling';

import { LooksAtDisk } from '../../documents/looksAtDisk';
import { OpenDocuments } from '../../documents/openDocuments';

/** A minimal notebook model, because JupyterLab's own one needs its whole notebook package. */
class NotebookModel extends DocumentModel {
  constructor() {
    super({ sharedModel: new YNotebook() as never, collaborationEnabled: false });
  }

  get notebook(): YNotebook {
    return this.sharedModel as unknown as YNotebook;
  }

  override fromJSON(value: JSONObject): void {
    this.notebook.fromJSON(value as never);
  }

  override toJSON(): never {
    return this.notebook.toJSON() as never;
  }
}

const notebookFactory = {
  name: 'notebook',
  contentType: 'notebook',
  fileFormat: 'json',
  preferredLanguage: () => '',
  createNew: () => new NotebookModel()
} as unknown as DocumentRegistry.IModelFactory<NotebookModel>;

/** One file on a disk, as Jupyter's contents manager returns it. */
export class DiskSample {
  constructor(
    readonly path: string,
    public content: string | JSONObject
  ) {}

  /** Called when the file was read, before the answer is sent. */
  whileRead = (_options?: Contents.IFetchOptions): Promise<void> => Promise.resolve();
  /** How often it was read with its content. */
  reads = 0;
  readonly fileChanged = new Signal<unknown, Contents.IChangedArgs>({});
  readonly ready = Promise.resolve();

  /** The hash of a content; it shows which content a document believes to be on disk. */
  hashOf(content: string | JSONObject = this.content): string {
    return JSON.stringify(content);
  }

  async get(_: string, options?: Contents.IFetchOptions): Promise<Contents.IModel> {
    const file = this._model(options?.content !== false);
    this.reads += Number(options?.content !== false);
    await this.whileRead(options);
    return file;
  }

  save(_: string, { content }: { content: string | JSONObject }): Promise<Contents.IModel> {
    this.content = content;
    const newValue = this._model(false);
    this.fileChanged.emit({ type: 'save', oldValue: null, newValue });
    return Promise.resolve(newValue);
  }

  normalize = (path: string): string => path;
  localPath = (path: string): string => path;
  driveName = (): string => '';
  getSharedModelFactory = (): null => null;
  listCheckpoints = () => Promise.resolve([{ id: 'first' }]);

  private _model(hasContent: boolean): Contents.IModel {
    const isText = typeof this.content === 'string';
    return {
      name: this.path,
      path: this.path,
      type: isText ? 'file' : 'notebook',
      format: hasContent ? (isText ? 'text' : 'json') : null,
      content: hasContent ? JSON.parse(JSON.stringify(this.content)) : null,
      hash: this.hashOf(),
      writable: true,
      created: '',
      last_modified: '',
      mimetype: ''
    } as Contents.IModel;
  }
}

/** Opens a file in JupyterLab's own context, and follows it. */
export async function opened(path: string, content: string | JSONObject) {
  const disk = new DiskSample(path, content);
  const contents = disk as unknown as Contents.IManager;
  const looks = new LooksAtDisk(contents);
  const nothing = { ready: disk.ready, runningChanged: new Signal({}), specsChanged: new Signal({}) };
  const manager = { contents, ready: disk.ready, kernels: nothing, sessions: nothing, kernelspecs: nothing };
  const factory = typeof content === 'string' ? new TextModelFactory() : notebookFactory;
  const context = new Context<DocumentModel>({
    manager: manager as unknown as ServiceManager.IManager,
    factory: factory as DocumentRegistry.IModelFactory<DocumentModel>,
    path
  });
  jest.spyOn(context.sessionContext, 'initialize').mockResolvedValue(false);
  const documents = new OpenDocuments(contents, { looks, closeFile: () => Promise.resolve() });
  documents.watch(context);
  await context.initialize(false);
  context.model.dirty = false;
  disk.reads = 0;
  return {
    disk,
    context,
    get told() {
      return documents.told[0];
    },
    follow: () => documents.handle(0, { do: 'follow' }),
    handle: documents.handle.bind(documents, 0),
    type: (text: string) => context.model.sharedModel.updateSource(0, 0, text)
  };
}
