import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import { DocumentModel } from '@jupyterlab/docregistry';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import type { ILab } from '../../documents/openDocument';

import { OpenDocuments } from '../../documents/openDocuments';

/** The followed parts of a document's context, with JupyterLab's own model. */
class ContextSample {
  constructor(
    public path: string,
    collaborationEnabled = false
  ) {
    this.model = new DocumentModel({ collaborationEnabled });
    this._ready.resolve();
  }

  readonly model: DocumentModel;
  readonly pathChanged = new Signal<this, string>(this);
  readonly fileChanged = new Signal<this, void>(this);
  readonly contentsModel = { format: 'text', hash: 'h1' };
  readonly saveState = new Signal<this, DocumentRegistry.SaveState>(this);
  readonly disposed = new Signal<this, void>(this);
  isReady = true;
  meanwhile = (): void => undefined;

  get ready(): Promise<void> {
    return this._ready.promise;
  }

  get asContext(): DocumentRegistry.Context {
    return this as unknown as DocumentRegistry.Context;
  }

  dispose(): void {
    this.disposed.emit();
  }

  type(text: string): void {
    this.model.sharedModel.updateSource(0, 0, text);
  }

  rename(path: string): void {
    this.path = path;
    this.pathChanged.emit(path);
  }

  /** Save as JupyterLab does; what is typed meanwhile is not written. */
  async save(): Promise<void> {
    this.saveState.emit('started');
    await Promise.resolve();
    this.meanwhile();
    contents.fileChanged.emit({ type: 'save', oldValue: null, newValue: { path: this.path } });
    this._end();
  }

  /** Save, find that the file has changed, and load it from disk instead, as JupyterLab does. */
  async revert(text: string): Promise<void> {
    this.saveState.emit('started');
    await Promise.resolve();
    this.model.fromString(text);
    this._end();
  }

  private _end(): void {
    this.model.dirty = false;
    this.saveState.emit('completed');
  }

  private _ready = new PromiseDelegate<void>();
}

class ContentsSample {
  readonly fileChanged = new Signal<Contents.IManager, Contents.IChangedArgs>({} as Contents.IManager);

  driveName(path: string): string {
    return path.startsWith('RTC:') ? 'RTC' : '';
  }
}

let contents: ContentsSample;
let documents: OpenDocuments;
let told: string[][];

beforeEach(() => {
  contents = new ContentsSample();
  documents = new OpenDocuments(contents, {} as ILab);
  told = [];
  documents.changed.connect(() => told.push(unsaved()));
});

afterEach(() => documents.dispose());

/** The paths of the documents with unsaved changes. */
function unsaved(): string[] {
  return documents.told.filter(({ saved }) => !saved).map(({ path }) => path);
}

function open(path: string, collaborative = false): ContextSample {
  const context = new ContextSample(path, collaborative);
  documents.watch(context.asContext);
  return context;
}

describe('an open document', () => {
  it('is unsaved from the first keystroke until it is saved', async () => {
    const context = open('folder/a.py');
    expect(unsaved()).toEqual([]);
    context.type('x');
    expect(told).toEqual([['folder/a.py']]);
    await context.save();
    expect(unsaved()).toEqual([]);
    expect(told[told.length - 1]).toEqual([]);
  });

  it('is still unsaved if its person went on typing while it was saved', async () => {
    const context = open('a.py');
    context.type('x');
    context.meanwhile = () => context.type('y');
    await context.save();
    context.meanwhile = () => undefined;
    expect(context.model.dirty).toBe(true);
    expect(unsaved()).toEqual(['a.py']);
    await context.save();
    expect(context.model.dirty).toBe(false);
  });

  it('is saved if it was replaced by what is on disk', async () => {
    const context = open('a.py');
    context.type('x');
    await context.revert('y');
    expect(unsaved()).toEqual([]);
  });

  it('is saved if it changed only before its content was taken', async () => {
    const context = open('a.py');
    context.saveState.connect((_, state) => state === 'started' && context.type('a final newline'));
    await context.save();
    expect(unsaved()).toEqual([]);
  });

  it('is told by its new name once it is renamed', () => {
    const context = open('a.py');
    context.type('x');
    context.rename('b.py');
    expect(told[told.length - 1]).toEqual(['b.py']);
  });

  it("is nobody else's matter once it is closed", () => {
    const context = open('a.py');
    context.type('x');
    context.disposed.emit();
    expect(told[told.length - 1]).toEqual([]);
  });

  it('counts once for all widgets that show it, and again for each model', () => {
    const context = open('n.ipynb');
    documents.watch(context.asContext);
    const asText = open('n.ipynb');
    context.type('x');
    asText.type('y');
    expect(told).toEqual([['n.ipynb'], ['n.ipynb', 'n.ipynb']]);
  });

  it('counts once it is read, for what was typed before that', async () => {
    const context = new ContextSample('a.py');
    context.isReady = false;
    documents.watch(context.asContext);
    context.type('x');
    expect(unsaved()).toEqual([]);
    context.isReady = true;
    await context.ready;
    expect(told[told.length - 1]).toEqual(['a.py']);
  });

  it.each([
    ['is edited together', 'a.py', true],
    ['lies on another drive', 'RTC:a.py', false]
  ])('is left out where it %s', (_, path, collaborative) => {
    open(path, collaborative).type('x');
    expect(unsaved()).toEqual([]);
  });
});
