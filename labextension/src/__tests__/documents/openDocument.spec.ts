import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';

import { DocumentModel } from '@jupyterlab/docregistry';
import { Signal } from '@lumino/signaling';

import type { DocumentRequest, IDocumentAnswer, ITextChange } from '../../documents/messages';

import { LooksAtDisk } from '../../documents/looksAtDisk';
import { OpenDocument } from '../../documents/openDocument';

const PATCH: DocumentRequest = { do: 'patch', hash: 'h1', to: 'h2', change: oneToTwo() };

/** `x = 1` becomes `x = 2`. */
function oneToTwo(): ITextChange {
  return { kind: 'text', spans: [[4, '1', '2', 'x = ', '']] };
}

/** A text file that is open in JupyterLab's own model, and its content on a disk. */
class FileSample {
  constructor() {
    this.model.fromString('x = 1');
    this.model.dirty = false;
  }

  readonly model = new DocumentModel({ collaborationEnabled: false });
  readonly path = 'a.py';
  isDisposed = false;
  contentsModel: { format: string; hash: string } = { format: 'text', hash: 'h1' };
  readonly fileChanged = new Signal<unknown, unknown>({});
  readonly pathChanged = new Signal<unknown, string>({});
  disk: { hash: string; content: string; writable?: boolean } = { hash: 'h1', content: 'x = 1' };
  reverted = 0;
  whileSaving: Promise<void> = Promise.resolve();
  saving = 0;
  mostSaving = 0;

  readonly contents = {
    get: (_path: string, _options?: object) => {
      this.looks++;
      return Promise.resolve({ writable: true, ...this.disk, format: 'text', type: 'file' });
    }
  };
  looks = 0;

  async save(): Promise<void> {
    this.mostSaving = Math.max(this.mostSaving, ++this.saving);
    await this.contents.get(this.path, { content: false });
    await this.whileSaving;
    this.saving--;
    this.disk = { hash: 'saved', content: this.model.toString() };
    this.contentsModel = { ...this.contentsModel, hash: 'saved' };
    this.model.dirty = false;
  }

  _updateContentsModel(known: FileSample['contentsModel']): void {
    this.contentsModel = known;
  }

  dispose(): void {
    this.isDisposed = true;
  }

  revert(): Promise<void> {
    this.reverted++;
    return Promise.resolve();
  }
}

function labOf(sample: FileSample) {
  const contents = sample.contents as unknown as Contents.IManager;
  const closeFile = (path: string) => Promise.resolve(void closed.push(path));
  return { looks: new LooksAtDisk(contents), closeFile };
}

let file: FileSample;
let closed: string[];
let document: OpenDocument;
let heard: () => Promise<void>;

beforeEach(() => {
  file = new FileSample();
  closed = [];
  heard = () => Promise.resolve();
  const context = file as unknown as DocumentRegistry.Context;
  document = new OpenDocument(
    7,
    context,
    labOf(file),
    () => undefined,
    () => heard()
  );
});

afterEach(() => jest.useRealTimers());

const written = (hash: string | null) => document.handle({ do: 'written', hash, last_modified: null });

function type(text: string): void {
  file.model.sharedModel.updateSource(0, 0, text);
}

describe('a saved document', () => {
  it('shows a change, stays saved, and takes over the hash once the file has it', async () => {
    expect(await document.handle(PATCH)).toMatchObject({ done: true });
    expect([file.model.toString(), document.told.saved, document.told.hash]).toEqual(['x = 2', true, 'h2']);
    await written('h2');
    expect([file.contentsModel.hash, document.told.saved, document.told.hash]).toEqual(['h2', true, 'h2']);
  });

  it('takes a change back that could not be written, and leaves what was typed meanwhile', async () => {
    await document.handle(PATCH);
    type('# typed\n');
    await written(null);
    expect([file.model.toString(), file.contentsModel.hash]).toEqual(['# typed\nx = 1', 'h1']);
    expect(document.told.saved).toBe(false);
  });

  it('takes the removal of a text back where that text was, though its person typed before it', async () => {
    await document.handle({ ...PATCH, change: { kind: 'text', spans: [[2, '= ', '', 'x ', '1']] } });
    type('# typed\n');
    await written(null);
    expect(file.model.toString()).toBe('# typed\nx = 1');
  });

  it('takes back of a change what is still there, and keeps what its person typed in it', async () => {
    await document.handle({ ...PATCH, change: { kind: 'text', spans: [[4, '1', 'two', 'x = ', '']] } });
    file.model.sharedModel.updateSource(5, 6, '!');
    await written(null);
    expect(file.model.toString()).toBe('x = 1!');
    await document.context.save();
    expect(file.disk.content).toBe('x = 1!');
  });

  it.each<[string, Partial<IDocumentAnswer>, () => DocumentRequest]>([
    ['is of another content', { reason: 'hash' }, () => ({ ...PATCH, hash: 'other' })],
    ['expects another text', { reason: 'text' }, () => (file.model.fromString('y = 3'), PATCH)],
    [
      'is of a notebook',
      { reason: 'hash' },
      () => ({ ...PATCH, change: { kind: 'notebook', total: 0, operations: [] } })
    ]
  ])('refuses a change that %s', async (_, reason, request) => {
    const asked = request();
    const before = file.model.toString();
    expect(await document.handle(asked)).toMatchObject({ done: false, ...reason });
    expect(file.model.toString()).toBe(before);
  });

  it('takes the next change only after it was told what became of the last one', async () => {
    await document.handle(PATCH);
    expect(await document.handle(PATCH)).toMatchObject({ done: false, reason: 'busy' });
  });

  it('finds out by the file itself what became of a change, if it is never told', async () => {
    await document.handle(PATCH);
    file.disk = { hash: 'h2', content: 'x = 2' };
    await document.settle();
    expect([file.model.toString(), file.contentsModel.hash]).toEqual(['x = 2', 'h2']);
    await document.handle({ ...PATCH, hash: 'h2', to: 'h3', change: { kind: 'text', spans: [[4, '2', '3', '', '']] } });
    await document.settle();
    expect([file.model.toString(), file.contentsModel.hash]).toEqual(['x = 2', 'h2']);
  });

  it('that is closed before its file has a change is not asked about again, and its file can be opened', async () => {
    jest.useFakeTimers();
    const look = jest.spyOn(file.contents, 'get');
    const lab = labOf(file);
    const context = file as unknown as DocumentRegistry.Context;
    const left = new OpenDocument(
      8,
      context,
      lab,
      () => undefined,
      () => heard()
    );
    await left.handle(PATCH);
    left.context.dispose();
    file.disk = { hash: 'h2', content: 'x = 2' };
    expect(await file.contents.get('a.py')).toMatchObject({ content: 'x = 2' });
    await jest.advanceTimersByTimeAsync(120_000);
    expect([look.mock.calls.length, file.disk.hash, jest.getTimerCount()]).toEqual([1, 'h2', 0]);
  });

  it('follows its file, unless its person has typed', async () => {
    file.disk = { hash: 'h5', content: 'x = 5' };
    await document.handle({ do: 'follow' });
    expect([file.model.toString(), file.contentsModel.hash, file.model.dirty]).toEqual(['x = 5', 'h5', false]);
    type('# typed\n');
    file.disk = { hash: 'h6', content: 'x = 6' };
    await document.handle({ do: 'follow' });
    expect([file.model.toString(), file.contentsModel.hash]).toEqual(['# typed\nx = 5', 'h5']);
    expect(file.reverted).toBe(0);
  });

  it('follows its file where that was written though it refused the change', async () => {
    file.disk = { hash: 'h2', content: 'x = 2' };
    const spans: ITextChange['spans'] = [[0, 'y', 'x', '', ' = 2']];
    expect(await document.handle({ ...PATCH, change: { kind: 'text', spans } })).toMatchObject({ done: false });
    await written('h2');
    expect([file.model.toString(), file.contentsModel.hash]).toEqual(['x = 2', 'h2']);
  });

  it('follows its file after a save that its person is asked about, and calls off', async () => {
    jest.useFakeTimers();
    let callOff = (_: Error): void => undefined;
    file.whileSaving = new Promise((_, reject) => (callOff = reject));
    const saving = document.context.save();
    file.disk = { hash: 'h5', content: 'x = 5' };
    const followed = document.handle({ do: 'follow' });
    await jest.advanceTimersByTimeAsync(60_000);
    await followed;
    callOff(new Error('Cancel'));
    await expect(saving).rejects.toThrow('Cancel');
    await jest.advanceTimersByTimeAsync(0);
    expect([file.model.toString(), file.contentsModel.hash]).toEqual(['x = 5', 'h5']);
  });

  it('reloads a file whose lines end as on Windows, as its context alone knows how', async () => {
    file.disk = { hash: 'h5', content: 'x = 5\r\n' };
    await document.handle({ do: 'follow' });
    expect(file.reverted).toBe(1);
  });
});

describe('an unsaved document', () => {
  beforeEach(() => type('# typed\n'));

  it('is sent again only after a change', async () => {
    const told = await document.handle({ do: 'content', known: null });
    expect(told).toMatchObject({ done: true, content: '# typed\nx = 1' });
    expect(await document.handle({ do: 'content', known: told!.counter! })).toEqual({
      done: true,
      counter: told!.counter
    });
  });

  it('is patched and saved', async () => {
    const change: DocumentRequest = { ...PATCH, to: null };
    expect(await document.handle(change)).toMatchObject({ done: true });
    expect(document.told.saved).toBe(false);
    expect(await document.handle({ do: 'save' })).toMatchObject({ done: true, hash: 'saved' });
    await written('saved');
    expect([file.disk.content, document.told.saved, document.told.hash]).toEqual(['# typed\nx = 2', true, 'saved']);
    expect(file.looks).toBe(1);
  });

  it('takes a change back that it was never asked to save, and takes the next one', async () => {
    await document.handle({ ...PATCH, to: null });
    await document.settle();
    expect([file.model.toString(), document.told.saved]).toEqual(['# typed\nx = 1', false]);
    expect(await document.handle({ do: 'save' })).toMatchObject({ done: false, reason: 'busy' });
    expect(await document.handle({ ...PATCH, to: null })).toMatchObject({ done: true });
  });

  it.each([
    ['saved', '', true],
    ['unsaved', '# more\n', false]
  ])('shows what another page saved after it was taken back, and is then %s', async (_, more, saved) => {
    await document.handle({ ...PATCH, to: null });
    await document.settle();
    type(more);
    file.disk = { hash: 'h2', content: '# typed\nx = 2' };
    await written('h2');
    expect(file.model.toString()).toBe(`${more}# typed\nx = 2`);
    expect([document.told.saved, document.told.hash]).toEqual([saved, 'h2']);
  });

  it('keeps a change that it has saved, if it is never told what became of it', async () => {
    await document.handle({ ...PATCH, to: null });
    const saving = document.handle({ do: 'save' });
    await document.settle();
    expect(await saving).toMatchObject({ done: true });
    expect([file.disk.content, file.model.toString(), document.told.saved]).toEqual([
      '# typed\nx = 2',
      '# typed\nx = 2',
      true
    ]);
  });

  it.each([0, 300])('keeps a change whose save lands %i ms after its answer was lost', async later => {
    let lose = (): void => undefined;
    file.whileSaving = new Promise((_, reject) => (lose = () => reject(new Error('lost'))));
    await document.handle({ ...PATCH, to: null });
    const saving = document.handle({ do: 'save', to: 'h2' });
    await new Promise(resolve => setTimeout(resolve));
    lose();
    setTimeout(() => (file.disk = { hash: 'h2', content: file.model.toString() }), later);
    await document.disconnected();
    expect(await saving).toMatchObject({ done: false });
    expect([file.model.toString(), document.told.saved, document.told.hash]).toEqual(['# typed\nx = 2', true, 'h2']);
  });

  it('takes a change back whose save was lost', async () => {
    jest.useFakeTimers();
    file.whileSaving = Promise.resolve().then(() => Promise.reject(new Error('lost')));
    await document.handle({ ...PATCH, to: null });
    await document.handle({ do: 'save', to: 'h2' });
    const settled = document.disconnected();
    await jest.advanceTimersByTimeAsync(4000);
    await settled;
    expect([file.model.toString(), document.told.saved, document.told.hash]).toEqual(['# typed\nx = 1', false, 'h1']);
  });

  it('is not saved over a file that a program has changed', async () => {
    await document.handle({ ...PATCH, to: null });
    file.disk = { hash: 'h9', content: 'x = 9' };
    expect(await document.handle({ do: 'save' })).toMatchObject({ done: false, reason: 'hash' });
    expect(file.disk.content).toBe('x = 9');
  });

  it('is not saved where its file is read-only', async () => {
    await document.handle({ ...PATCH, to: null });
    file.disk = { ...file.disk, writable: false };
    expect(await document.handle({ do: 'save' })).toMatchObject({ done: false, reason: 'failed' });
    expect(file.disk.content).toBe('x = 1');
  });

  it.each([true, false])(
    'that is closed while it is saved is given up after that, unless it is opened again',
    async again => {
      let end = (): void => undefined;
      file.whileSaving = new Promise(resolve => (end = resolve));
      await document.handle({ ...PATCH, to: null });
      const saved = document.handle({ do: 'save' });
      await new Promise(resolve => setTimeout(resolve));
      document.context.dispose();
      expect(file.isDisposed).toBe(false);
      if (again) {
        document.shown();
      }
      end();
      expect(await saved).toMatchObject({ done: true, hash: 'saved' });
      await new Promise(resolve => setTimeout(resolve));
      expect([file.disk.content, file.isDisposed]).toEqual(['# typed\nx = 2', !again]);
    }
  );

  it('that its person saves and closes says that it is closed to the save that waited for theirs', async () => {
    let end = (): void => undefined;
    file.whileSaving = new Promise(resolve => (end = resolve));
    await document.handle({ ...PATCH, to: null });
    const closing = document.context.save().then(() => document.context.dispose());
    await new Promise(resolve => setTimeout(resolve));
    const saved = document.handle({ do: 'save' });
    await new Promise(resolve => setTimeout(resolve));
    end();
    await closing;
    expect(await saved).toMatchObject({ done: false, reason: 'closed' });
    expect([file.disk.content, file.isDisposed]).toEqual(['# typed\nx = 2', true]);
  });

  it('is not changed nor saved once it is closed', async () => {
    document.context.dispose();
    for (const request of [{ ...PATCH, to: null }, { do: 'save' }] as DocumentRequest[]) {
      expect(await document.handle(request)).toMatchObject({ done: false, reason: 'closed' });
    }
    expect(file.disk.content).toBe('x = 1');
  });

  it('is not saved any more once the server has given up', async () => {
    await document.handle({ ...PATCH, to: null });
    const saved = document.handle({ do: 'save' });
    await written(null);
    expect(await saved).toMatchObject({ done: false, reason: 'busy' });
    expect([file.disk.content, file.model.toString(), document.told.saved]).toEqual(['x = 1', '# typed\nx = 1', false]);
  });

  it('is not saved any more once the connection is lost', async () => {
    await document.handle({ ...PATCH, to: null });
    const saved = document.handle({ do: 'save' });
    await document.disconnected();
    expect(await saved).toMatchObject({ done: false, reason: 'busy' });
    expect([file.disk.content, file.model.toString(), document.told.saved]).toEqual(['x = 1', '# typed\nx = 1', false]);
  });

  it('is not saved any more though it is read after the server has given up', async () => {
    await document.handle({ ...PATCH, to: null });
    const saved = document.handle({ do: 'save' });
    const given = written(null);
    await document.handle({ do: 'content', known: null });
    await given;
    expect(await saved).toMatchObject({ done: false, reason: 'busy' });
    expect([file.disk.content, file.model.toString()]).toEqual(['x = 1', '# typed\nx = 1']);
  });

  it('takes no change while a save is under way, and for two seconds waits for it', async () => {
    jest.useFakeTimers();
    let end = (): void => undefined;
    file.whileSaving = new Promise(resolve => (end = resolve));
    const context = document.context;
    const saving = context.save();
    const refused = document.handle({ ...PATCH, to: null });
    await jest.advanceTimersByTimeAsync(2000);
    expect(await refused).toMatchObject({ done: false, reason: 'busy' });
    const patched = document.handle({ ...PATCH, hash: 'saved', to: null });
    end();
    await saving;
    expect(await patched).toMatchObject({ done: true });
    expect([file.disk.content, file.model.toString()]).toEqual(['# typed\nx = 1', '# typed\nx = 2']);
  });

  it('is saved by its person only after a save that was asked for, which has begun to look at the file', async () => {
    await document.handle({ ...PATCH, to: null });
    const saved = document.handle({ do: 'save' });
    await Promise.resolve();
    file.whileSaving = new Promise(resolve => setTimeout(resolve, 10));
    const own = document.context.save();
    expect(await saved).toMatchObject({ done: true });
    await own;
    expect([file.mostSaving, file.disk.content]).toEqual([1, '# typed\nx = 2']);
  });

  it('is told as unsaved while its person saves it, and written only once the server has heard that', async () => {
    let tellHeard = (): void => undefined;
    heard = () => new Promise(resolve => (tellHeard = resolve));
    file.model.dirty = false;
    const saving = document.context.save();
    await new Promise(resolve => setTimeout(resolve));
    expect([file.disk.hash, document.told.saved]).toEqual(['h1', false]);
    tellHeard();
    await saving;
    expect([file.disk.hash, document.told.saved]).toEqual(['saved', true]);
  });

  it('stays open where its file was removed while its person typed', async () => {
    await document.handle({ do: 'close' });
    expect([closed, file.model.dirty, document.told.saved]).toEqual([[], true, false]);
    file.model.dirty = false;
    await document.handle({ do: 'close' });
    expect(closed).toEqual(['a.py']);
  });
});
