/** A server for tests: a journal in memory, told as the real one tells it; notes what it was asked. */

import type { Event } from '@jupyterlab/services';
import type { ServerConnection } from '@jupyterlab/services';

import { Stream } from '@lumino/signaling';

import type { Change, ChangeEvent, ReadEntry, RefusalEntry } from '../payloads';
import type { IOutcome } from '../feed/requests';
import type { Entry } from '../feed/tokens';

import { isWanted } from '../feed/entries';
import { ToolsServer } from '../feed/requests';
import { fileDiff, hunk } from './diffSamples';

const CHANGE = 'https://schema.jupyter.org/jupyter_fstools/change/v1';
const ACTIVITY = 'https://schema.jupyter.org/jupyter_fstools/activity/v1';

type Answer = { status: number; body: string };

/** A change of the file `a.txt` with some facts of its own. */
export function changed(id: string, facts: Partial<ChangeEvent> = {}): ChangeEvent {
  const said = {
    path: 'a.txt',
    op: 'edit',
    status: 'applied',
    tool: 'edit_file',
    user: 'ann',
    session: 'one'
  } as const;
  const decided = { decided_at: null, decided_by: null, decided_via: null, seen_by: [], paths: [] };
  const ends = {
    undoes: null,
    redo: false,
    undoable: true,
    exit_code: null,
    stale: false,
    place: 'disk' as const,
    saved: true,
    ...decided
  };
  return { kind: 'change', id, revision: 1, at: 1, added: 1, removed: 1, truncated: false, ...said, ...ends, ...facts };
}

/** A read of the file `a.txt` with some facts of its own. */
export function wasRead(id: string, facts: Partial<ReadEntry> = {}): ReadEntry {
  const extent = { lines: [[1, 2]] as [number, number][], cells: null, full: false };
  return { kind: 'read', id, at: 1, path: 'a.txt', user: 'ann', session: 'one', ...extent, ...facts };
}

/** A refused edit of the file `a.txt` with some facts of its own. */
export function wasRefused(id: string, facts: Partial<RefusalEntry> = {}): RefusalEntry {
  const why = { tool: 'edit_file', code: 'not_read', message: 'a.txt has not been read', hint: '' };
  return { kind: 'refusal', id, at: 1, path: 'a.txt', user: 'ann', session: 'one', ...why, ...facts };
}

/** The journal's change for an entry; `run` gives the lines of a command. */
export function changeOf(
  { kind: _, exit_code: __, at, op, added, removed, truncated, stale, redo, paths, ...facts }: ChangeEvent,
  run = ['make test']
): Change {
  const hunks = op === 'execute' ? [hunk([' NAME=value', ...run.map(line => `+${line}`)])] : [];
  const diff = fileDiff({ path: facts.path, op, added, removed, truncated, hunks });
  return {
    ...facts,
    created_at: at,
    before: null,
    after: null,
    diff,
    decided: null,
    told: false,
    kept: {},
    files: [],
    ran: null,
    interrupted: false,
    account: 'ada'
  };
}

/** Answers requests from its entries, or with a fixed answer. */
export class ServerSample {
  /** Entries of the activity, in any order. */
  entries: Entry[] = [];
  /** A fixed answer to every request; with `gone`, the server cannot be reached. */
  instead: Answer | 'gone' | null = null;
  /** The lines of commands that differ from the default, by id. */
  runs: Record<string, string[]> = {};
  /** The outcomes of changes that are decided at once. */
  outcomes: IOutcome[] = [];
  /** Method, path and query of each request, and its body. */
  readonly asked: string[] = [];
  readonly stream: Event.Stream = new Stream<Event.IManager, Event.Emission>({} as Event.IManager);

  /** The client to ask with. */
  get client(): ToolsServer {
    const settings = {
      baseUrl: 'http://localhost/',
      init: {},
      token: '',
      fetch: (request: SampleRequest) => this._answer(request),
      Request: SampleRequest
    };
    return new ToolsServer(settings as unknown as ServerConnection.ISettings);
  }

  /** Note a change and tell it on the event bus. */
  tell(change: ChangeEvent): void {
    this.entries = [...this.entries.filter(entry => entry.id !== change.id), change];
    this._emit(CHANGE, change);
  }

  /** Note reads and refusals and tell them on the event bus. */
  tellActivity(...entries: (ReadEntry | RefusalEntry)[]): void {
    this.entries.push(...entries);
    this._emit(ACTIVITY, { entries, more: false });
  }

  /** Emit an event of another source on the event bus. */
  tellOther(event: object): void {
    this._emit('https://events.jupyter.org/jupyter_server/contents_service/v1', event);
  }

  private _emit(schema_id: string, event: object): void {
    (this.stream as Stream<Event.IManager, Event.Emission>).emit({ schema_id, ...event });
  }

  private async _answer({ url, init }: SampleRequest): Promise<Partial<Response>> {
    const { pathname, search, searchParams } = new URL(url);
    this.asked.push([init.method, pathname + search, ...(init.body ? [init.body as string] : [])].join(' '));
    if (this.instead === 'gone') {
      throw new TypeError('Failed to fetch');
    }
    const { status, body } = this.instead ?? { status: 200, body: JSON.stringify(this._told(pathname, searchParams)) };
    return { ok: status < 400, status, statusText: '', headers: new Map() as never, text: async () => body };
  }

  private _told(path: string, query: URLSearchParams): object {
    const { _changes: changes } = this;
    const proposed = changes.filter(change => change.status === 'proposed').length;
    const revision = Math.max(0, ...changes.map(change => change.revision));
    if (path === '/api/fstools/activity') {
      const after = query.get('after');
      const news = changes.filter(change => change.revision > Number(after) || change.status === 'proposed');
      return { ...(after === null ? this._page(query) : { entries: news, next: null }), proposed, revision };
    }
    if (/changes\/(approve|reject)$/.test(path)) {
      return { outcomes: this.outcomes };
    }
    const one = changes.find(change => path === `/api/fstools/changes/${change.id}`);
    if (one) {
      return { change: changeOf(one, this.runs[one.id]) };
    }
    const status = query.get('status') as Change['status'] | null;
    if (status) {
      const asked = { kinds: [], status, path: query.get('path') ?? undefined };
      const found = changes.filter(change => isWanted(change, asked)).sort((one, other) => other.at - one.at);
      const page = found.slice(0, Number(query.get('limit')));
      return { changes: page.map(change => changeOf(change)), total: found.length };
    }
    throw new Error(`The sample does not answer ${path}`);
  }

  private _page(query: URLSearchParams): { entries: Entry[]; next: number | null } {
    const before = Number(query.get('before') ?? Infinity);
    const limit = Number(query.get('limit'));
    const kinds = query.get('kind')?.split(',') ?? [];
    const older = this.entries.filter(entry => entry.at < before && kinds.includes(entry.kind));
    const entries = older.sort((one, other) => other.at - one.at).slice(0, limit);
    return { entries, next: entries.length === limit ? entries[limit - 1].at : null };
  }

  private get _changes(): ChangeEvent[] {
    return this.entries.filter(entry => entry.kind === 'change');
  }
}

class SampleRequest {
  constructor(
    readonly url: string,
    readonly init: RequestInit
  ) {}

  readonly headers = new Map<string, string>();
}
