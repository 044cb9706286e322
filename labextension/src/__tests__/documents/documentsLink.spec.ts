import type { Contents, ServerConnection } from '@jupyterlab/services';

import { Signal } from '@lumino/signaling';

import type { IDocumentAnswer, IToldDocument } from '../../documents/messages';
import type { ILab } from '../../documents/openDocument';

import { DocumentsLink } from '../../documents/documentsLink';
import { OpenDocuments } from '../../documents/openDocuments';

/** A connection whose answers the test sends. */
class SocketSample {
  constructor(readonly url: string) {
    sockets.push(this);
  }

  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  readonly said: { browser: string; documents: IToldDocument[] }[] = [];
  closedWith: number | undefined | null = null;

  send(text: string): void {
    this.said.push(JSON.parse(text));
  }

  close(code?: number): void {
    this.closedWith ??= code;
  }

  answer(answer: object = { known: this.last.length }): void {
    this.onmessage?.({ data: JSON.stringify(answer) });
  }

  get last(): string[] {
    return this.said[this.said.length - 1].documents.map(({ path }) => path);
  }
}

class DocumentsSample extends OpenDocuments {
  constructor() {
    super({ driveName: () => '', fileChanged: new Signal({} as Contents.IManager) }, {} as ILab);
  }

  override get told(): IToldDocument[] {
    return this.now.map((path, document) => ({ document, path, kind: 'text', saved: false, hash: null, counter: 0 }));
  }

  override get isPatching(): boolean {
    return this.patching;
  }

  override async handle(): Promise<IDocumentAnswer> {
    await this.saved;
    this.patching = true;
    await hold('a.py', 'b.py');
    this.patching = false;
    return { done: true };
  }

  now: string[] = [];
  patching = false;
  /** Delays the answer to a patch. */
  saved: Promise<void> = Promise.resolve();
}

const MINUTE = 60_000;

let sockets: SocketSample[];
let documents: DocumentsSample;
let report: DocumentsLink;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['queueMicrotask'] });
  sockets = [];
  documents = new DocumentsSample();
  const settings = { wsUrl: 'ws://localhost/base/', token: 'a b', appendToken: true, WebSocket: SocketSample };
  report = new DocumentsLink(documents, settings as unknown as ServerConnection.ISettings);
});

afterEach(() => {
  report.dispose();
  Signal.clearData(documents);
  jest.useRealTimers();
});

/** Set the unsaved files, and report them. */
async function hold(...unsaved: string[]): Promise<void> {
  documents.now = unsaved;
  documents.changed.emit();
  await Promise.resolve();
}

/** Connect, and have the server hear that a file is unsaved. */
async function heard(path: string): Promise<SocketSample> {
  await hold(path);
  const [socket] = sockets;
  socket.onopen?.();
  socket.answer();
  return socket;
}

describe('a page', () => {
  it('without an open document needs no connection', async () => {
    await hold();
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(sockets).toEqual([]);
  });

  it('says at once what is open, and what is closed', async () => {
    const socket = await heard('a.py');
    expect(socket.url).toBe('ws://localhost/base/api/fstools/documents?token=a%20b');
    await hold();
    expect(socket.said.map(({ documents }) => documents.map(({ path }) => path))).toEqual([['a.py'], []]);
  });

  it('says nothing twice', async () => {
    const socket = await heard('a.py');
    await hold('a.py');
    expect(socket.said).toHaveLength(1);
  });

  it('says one thing at a time, and then what holds by then', async () => {
    const socket = await heard('a.py');
    await hold('a.py', 'b.py');
    await hold('a.py', 'c.py');
    await hold('a.py', 'd.py');
    expect(socket.said).toHaveLength(2);
    socket.answer();
    expect(socket.said).toHaveLength(3);
    expect(socket.last).toEqual(['a.py', 'd.py']);
  });

  it('answers a patch before it says what that has changed', async () => {
    const socket = await heard('a.py');
    socket.answer({ ask: 7, do: 'patch', document: 0 });
    await jest.advanceTimersByTimeAsync(0);
    expect(socket.said.slice(1)).toEqual([
      { answer: 7, done: true },
      expect.objectContaining({ browser: expect.any(String) })
    ]);
    expect(socket.last).toEqual(['a.py', 'b.py']);
  });

  it('says what becomes unsaved while a patch waits for a save that asks its person', async () => {
    const socket = await heard('a.py');
    documents.saved = new Promise(() => undefined);
    socket.answer({ ask: 7, do: 'patch', document: 0 });
    await hold('a.py', 'typed.py');
    expect(socket.last).toEqual(['a.py', 'typed.py']);
  });

  it('is heard once the server has answered to all of it, and waits no longer than two seconds', async () => {
    let isHeard = false;
    const socket = await heard('a.py');
    await hold('b.py');
    void documents.heard().then(() => (isHeard = true));
    await jest.advanceTimersByTimeAsync(0);
    expect(isHeard).toBe(false);
    socket.answer();
    await jest.advanceTimersByTimeAsync(0);
    expect(isHeard).toBe(true);
    isHeard = false;
    await hold('c.py');
    void documents.heard().then(() => (isHeard = true));
    await jest.advanceTimersByTimeAsync(2000);
    expect(isHeard).toBe(true);
  });

  it('is heard at once where there is nothing to say, and by a server that is there again', async () => {
    await documents.heard();
    const socket = await heard('a.py');
    socket.onclose?.();
    void documents.heard();
    expect(sockets).toHaveLength(2);
  });

  it('says it again before the server forgets, and no longer once all is saved', async () => {
    const socket = await heard('a.py');
    await jest.advanceTimersByTimeAsync(MINUTE);
    socket.answer();
    await jest.advanceTimersByTimeAsync(MINUTE);
    socket.answer();
    expect(socket.said).toHaveLength(3);
    await hold();
    socket.answer();
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(socket.said).toHaveLength(4);
  });

  it('that is left says goodbye', async () => {
    const socket = await heard('a.py');
    window.dispatchEvent(new Event('pagehide'));
    expect(socket.closedWith).toBe(1000);
  });
});

describe('a broken connection', () => {
  it('is made anew, under the same name, and all is said again', async () => {
    const socket = await heard('a.py');
    socket.onclose?.();
    await hold('a.py', 'b.py');
    await jest.advanceTimersByTimeAsync(1000);
    expect(sockets).toHaveLength(2);
    sockets[1].onopen?.();
    expect(sockets[1].said[0].browser).toBe(socket.said[0].browser);
    expect(sockets[1].last).toEqual(['a.py', 'b.py']);
  });

  it('is made anew to say that all is saved, and not where the server knows', async () => {
    const socket = await heard('a.py');
    socket.onclose?.();
    await hold();
    await jest.advanceTimersByTimeAsync(1000);
    sockets[1].onopen?.();
    expect(sockets[1].last).toEqual([]);
    sockets[1].answer();
    sockets[1].onclose?.();
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(sockets).toHaveLength(2);
  });

  it('is tried ever less often, at last every ten seconds', async () => {
    await hold('a.py');
    for (let tried = 0; tried < 20; tried++) {
      const seen = sockets.length;
      sockets[seen - 1].onclose?.();
      while (sockets.length === seen) {
        await jest.advanceTimersByTimeAsync(100);
      }
    }
    const before = sockets.length;
    sockets[before - 1].onclose?.();
    await jest.advanceTimersByTimeAsync(5000 - 1);
    expect(sockets).toHaveLength(before);
  });

  it.each([
    ['no answer', async () => void (await jest.advanceTimersByTimeAsync(20_000))],
    ['a refusal', async (socket: SocketSample) => socket.answer({ error: { code: 'io' } })]
  ])('is what %s amounts to', async (_, happen) => {
    await hold('a.py');
    const [socket] = sockets;
    socket.onopen?.();
    await happen(socket);
    expect(socket.closedWith).toBe(undefined);
    await jest.advanceTimersByTimeAsync(1000);
    expect(sockets).toHaveLength(2);
  });
});
