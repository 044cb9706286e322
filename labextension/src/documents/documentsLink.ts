/** Tells the server which documents are open, and hands on what it asks of them. */

import type { ServerConnection } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import { URLExt } from '@jupyterlab/coreutils';
import { UUID } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import type { DocumentRequest, IToldDocument } from './messages';
import type { OpenDocuments } from './openDocuments';

/** Milliseconds between two reports of the open documents, in case the server missed one. */
const SAY_AGAIN = 60_000;
const ANSWER_WITHIN = 20_000;
/** Longest wait of a save until the server has heard of it, in milliseconds: the server may be only starting. */
const HEARD_WITHIN = 2000;
const RETRY_FIRST = 1000;
const RETRY_AT_MOST = 10_000;
/** Close code of a page that is left: its unsaved edits are gone. */
const GOODBYE = 1000;

/** A message from the server: how many documents it knows, a refusal, or a request. */
type Message = { known: number } | { error: object } | (DocumentRequest & { document: number; ask?: number });

/** Connects to the server once a document is open; sends one report at a time. */
export class DocumentsLink implements IDisposable {
  constructor(
    private _documents: OpenDocuments,
    private _settings: ServerConnection.ISettings
  ) {
    _documents.changed.connect(this._onChanged, this);
    _documents.heard = () => this._heard();
    window.addEventListener('pagehide', this._leave);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.removeEventListener('pagehide', this._leave);
    this._leave();
    this._drop();
    window.clearTimeout(this._timer);
    Signal.disconnectReceiver(this);
  }

  /** Report in a microtask: a save changes several facts in one step, and only their final state counts. */
  private _onChanged(): void {
    queueMicrotask(() => this._tell());
  }

  /** Report the open documents unless the server knows them; do not connect before there is one to report. */
  private _tell(): void {
    const { told } = this._documents;
    if (this.isDisposed || !(told.length || this._isHeld)) {
      return;
    }
    if (this._socket === null) {
      if (!this._isRetrying) {
        this._connect();
      }
    } else if (this._isFree && !this._documents.isPatching) {
      if (spelled(told) !== this._said) {
        this._say(told);
      } else {
        this._noteHeard();
      }
    }
  }

  private _heard(): Promise<void> {
    if (this.isDisposed || !(this._documents.told.length || this._isHeld)) {
      return Promise.resolve();
    }
    if (this._isRetrying) {
      this._isRetrying = false;
      this._connect();
    }
    return new Promise(resolve => {
      this._waiting.push(resolve);
      window.setTimeout(resolve, HEARD_WITHIN);
      this._tell();
    });
  }

  private _noteHeard(): void {
    this._waiting.splice(0).forEach(resolve => resolve());
  }

  private _connect(): void {
    const { appendToken, token, WebSocket, wsUrl } = this._settings;
    const query = appendToken && token !== '' ? `?token=${encodeURIComponent(token)}` : '';
    const socket = new WebSocket(URLExt.join(wsUrl, 'api/fstools/documents') + query);
    this._socket = socket;
    this._after(ANSWER_WITHIN, () => this._retry());
    socket.onopen = () => {
      this._documents.settle();
      this._say(this._documents.told);
    };
    socket.onmessage = ({ data }) => this._onMessage(socket, JSON.parse(String(data)) as Message);
    socket.onclose = () => this._retry();
  }

  private _say(told: IToldDocument[]): void {
    this._isFree = false;
    this._isHeld ||= told.length > 0;
    this._said = spelled(told);
    this._socket?.send(JSON.stringify({ browser: this._name, documents: told }));
    this._after(ANSWER_WITHIN, () => this._retry());
  }

  private _onMessage(socket: WebSocket, message: Message): void {
    if ('do' in message) {
      void this._handle(socket, message);
    } else if ('known' in message) {
      this._isFree = true;
      this._isHeld = this._said !== spelled([]);
      this._tries = 0;
      this._after(SAY_AGAIN, () => this._isHeld && this._say(this._documents.told));
      this._tell();
    } else {
      this._retry();
    }
  }

  private async _handle(
    socket: WebSocket,
    request: DocumentRequest & { document: number; ask?: number }
  ): Promise<void> {
    const answer = await this._documents.handle(request.document, request);
    if (request.ask !== undefined && socket === this._socket) {
      socket.send(JSON.stringify({ answer: request.ask, ...answer }));
    }
    this._tell();
  }

  /** Reconnect after a delay, as long as there is something to report. */
  private _retry(): void {
    this._drop();
    const wait = Math.min(RETRY_FIRST * 2 ** this._tries++, RETRY_AT_MOST);
    this._isRetrying = true;
    // With jitter, so that not all pages connect to a restarted server at the same moment.
    this._after(wait * (0.5 + Math.random() / 2), () => {
      this._isRetrying = false;
      this._tell();
    });
  }

  private _drop(): void {
    const socket = this._socket;
    this._socket = null;
    this._isFree = false;
    this._said = null;
    this._noteHeard();
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
      this._documents.settle();
    }
  }

  private _leave = (): void => this._socket?.close(GOODBYE);

  /** Set the only timer: there is one thing to wait for at any time, an answer, the next report or attempt. */
  private _after(milliseconds: number, act: () => void): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(act, milliseconds);
  }

  /** Name by which the server recognizes the page after its connection broke. */
  private readonly _name = UUID.uuid4();
  private _socket: WebSocket | null = null;
  /** The last report on this connection, as `spelled` gives it. */
  private _said: string | null = null;
  /** Whether the server may know documents of this page, because of which it limits the tools. */
  private _isHeld = false;
  /** Called once the server has heard the current report. */
  private _waiting: (() => void)[] = [];
  private _isFree = false;
  private _isRetrying = false;
  private _isDisposed = false;
  private _tries = 0;
  private _timer = 0;
}

/** Fingerprint of a report without its counters, whose changes are not reported at once. */
function spelled(told: readonly IToldDocument[]): string {
  return JSON.stringify(told.map(document => ({ ...document, counter: 0 })));
}
