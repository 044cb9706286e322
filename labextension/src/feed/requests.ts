/** What the server can be asked, and how it refuses. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { ActivityPage, Change } from '../payloads';
import type { IActivityFilter } from './tokens';

/** What the server says of itself, as far as this extension asks. */
export interface IServerStatus {
  version: string;
  root: string;
  /** Who asks. */
  user: string;
  /** Where the root lies below Jupyter's own root: '' if they are one, null if it lies elsewhere. */
  contents_path: string | null;
  approval: string | string[];
  read_only: boolean;
  events: { change: string; activity: string };
}

/** What became of one of several changes decided about at once. */
export interface IOutcome {
  id: string;
  path: string | null;
  change: Change | null;
  error: IRefusal | null;
}

/** A refusal as the server words it. */
export interface IRefusal {
  code: string;
  message: string;
  hint: string;
  details: { diff?: string };
}

export type Decision = 'approve' | 'reject';

/** The server refused, or could not be asked (`code` is then `unreachable`). */
export class RequestError extends Error {
  constructor(readonly refusal: IRefusal) {
    super(refusal.message);
  }
}

/** What is decided in detail; all of a change where nothing is named. */
export interface IDecisionDetail {
  hunks?: number[] | Record<string, number[]>;
  reason?: string;
  content?: string | Record<string, string>;
}

type Query = Record<string, string | number | undefined>;

/** The server's half of this extension. */
export class ToolsServer {
  constructor(private _settings: ServerConnection.ISettings) {}

  status(): Promise<IServerStatus> {
    return this._ask('GET', '');
  }

  /** A page of what happened, newest first; `before` is the `next` of the page before it. */
  activity(filter: IActivityFilter, before?: number | null, limit = 100): Promise<ActivityPage> {
    const { kinds, session, path, status } = filter;
    const query = {
      kind: status === undefined ? kinds.join(',') : 'change',
      session,
      path,
      status,
      before: before ?? undefined,
      limit
    };
    return this._ask('GET', 'activity', { query });
  }

  /** Steps in the journal after a revision, in the order in which they were made; without their diffs. */
  changesAfter(revision: number): Promise<{ changes: Change[]; proposed: number; revision: number }> {
    return this._ask('GET', 'changes', { query: { after: revision, diffs: 'false', limit: 1000 } });
  }

  async change(id: string): Promise<Change> {
    return (await this._ask<{ change: Change }>('GET', `changes/${encodeURIComponent(id)}`)).change;
  }

  /** One change with every row of its diff, as far as its file still tells them. */
  async wholeChange(id: string): Promise<Change> {
    const query = { rows: 'all' };
    return (await this._ask<{ change: Change }>('GET', `changes/${encodeURIComponent(id)}`, { query })).change;
  }

  /** Decide about a change, or about some of its hunks. */
  async decide(id: string, decision: Decision | 'undo' | 'keep', body: IDecisionDetail = {}): Promise<Change> {
    const path = `changes/${encodeURIComponent(id)}/${decision}`;
    return (await this._ask<{ change: Change }>('POST', path, { body })).change;
  }

  /** The newest changes of a file with a status, newest first, with their diffs. */
  async changesOf(path: string, status: Change['status'], limit = 50): Promise<Change[]> {
    const query = { path, status, limit };
    return (await this._ask<{ changes: Change[] }>('GET', 'changes', { query })).changes;
  }

  /** What waits of a session, below a path, or both: the newest 1000, newest first, without their diffs. */
  async waiting({ session, path }: Pick<IActivityFilter, 'session' | 'path'>): Promise<Change[]> {
    const query = { status: 'proposed', session, path, diffs: 'false', limit: 1000 };
    return (await this._ask<{ changes: Change[] }>('GET', 'changes', { query })).changes;
  }

  /** Decide about changes in the order of their ids. */
  async decideAll(decision: Decision, ids: string[]): Promise<IOutcome[]> {
    return (await this._ask<{ outcomes: IOutcome[] }>('POST', `changes/${decision}`, { body: { ids } })).outcomes;
  }

  /** Take the newest change of a file back that still stands. */
  async undoLast(path: string): Promise<Change> {
    return (await this._ask<{ change: Change }>('POST', 'changes/undo', { body: { path } })).change;
  }

  private async _ask<T>(method: string, path: string, parts: { query?: Query; body?: object } = {}): Promise<T> {
    const given = Object.entries(parts.query ?? {}).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const url = URLExt.join(this._settings.baseUrl, 'api/fstools', path) + (given.length ? `?${query}` : '');
    const init = { method, body: method === 'POST' ? JSON.stringify(parts.body ?? {}) : undefined };
    let response: Response;
    let text: string;
    try {
      response = await ServerConnection.makeRequest(url, init, this._settings);
      text = await response.text();
    } catch (error) {
      throw new RequestError({ code: 'unreachable', message: String(error), hint: '', details: {} });
    }
    const answer = parsed(text);
    if (response.ok && answer !== null) {
      return answer as T;
    }
    const unclear = { code: 'io', message: `${response.status} ${response.statusText}`, hint: '', details: {} };
    throw new RequestError(((answer as { error?: IRefusal } | null)?.error as IRefusal) ?? unclear);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
