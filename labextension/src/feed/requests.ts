/** Sends requests to the server, and raises its refusals as errors. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { RootBelowContents } from '../paths';
import type { ActivityPage, Change, ChangedSince } from '../payloads';
import type { IActivityFilter } from './tokens';

import { hasLongRows, isCut } from './changedFiles';
import { ConcurrencyLimit } from './concurrencyLimit';

/** The parts of the server's status that this extension uses. */
export interface IServerStatus {
  version: string;
  /** The user who sends the request. */
  user: string;
  contents_path: RootBelowContents;
  /** The tools that are enabled. */
  tools: string[];
  approval: string | string[];
}

/** Outcome of one of several changes that were decided at once. */
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
  /** If the change was already decided, `status` is its status. */
  details: { diff?: string; status?: string };
}

/** A change, and what happened to the files of a proposal since. */
export interface IStanding {
  change: Change;
  changed_since: ChangedSince[];
}

/** A file as text before and after a change; null where there is none. */
export interface IFileSides {
  path: string;
  old: string | null;
  new: string | null;
}

/** A token that a person has made for an assistant; times in seconds since 1970. */
export interface IAssistantToken {
  id: string;
  name: string;
  session: string;
  tools: 'read' | 'write' | string[];
  paths: string[];
  expires_at: number | null;
  last_used_at: number | null;
}

/** A program that an assistant runs in, and where it documents how it is configured. */
export interface IClient {
  name: string;
  title: string;
  /** Path of its configuration file, from the home (`~/`) or the project's folder; null: it varies. */
  file: string | null;
  page: string;
}

/** A person's choices for a client: how it reaches the server, and what its token permits. */
export interface INewConnection {
  client: string;
  stdio: boolean;
  name: string;
  tools: 'read' | 'write' | string[];
  paths: string[];
  /** Lifetime of the token in seconds; null: it never expires. */
  expires_in: number | null;
}

/** A token that was made for a client, and the configuration with it. */
export interface IConnection {
  id: string;
  client: IClient;
  configuration: string;
}

/** A decision about a change. */
export type Decision = 'approve' | 'reject' | 'keep' | 'undo';

/** The server refused, or could not be reached (`code` is then `unreachable`). */
export class RequestError extends Error {
  constructor(readonly refusal: IRefusal) {
    super(refusal.message);
  }
}

/** Details of a decision; it is about the whole change where no hunks are named. */
export interface IDecisionDetail {
  hunks?: number[] | Record<string, number[]>;
  reason?: string;
  content?: string | Record<string, string>;
  /** The text that `content` was made from: the server refuses the decision if the file has changed since. */
  base?: string | Record<string, string>;
}

interface IRequestParts {
  query?: Record<string, string | number | undefined>;
  body?: object;
  signal?: AbortSignal;
}

/** How many changes are listed at once. */
export const MOST_LISTED = 1000;

/** Seconds that a request waits for news; proxies cut off longer ones. */
const WAITS = 45;

/** Limits decisions under way: each may wait for this page to save, and browsers open six connections to a server. */
const deciding = new ConcurrencyLimit(2);

/** Client of the server's half of this extension. */
export class ToolsServer {
  constructor(private _settings: ServerConnection.ISettings) {}

  status(): Promise<IServerStatus> {
    return this._ask('GET', '');
  }

  /** A page of what happened, newest first; `before` is the `next` of the page before it. */
  activity(filter: IActivityFilter, before?: number | null, limit = 100): Promise<ActivityPage> {
    const { kinds, session, path, match, status } = filter;
    const query = {
      kind: status === undefined ? kinds.join(',') : 'change',
      session,
      path,
      match,
      status,
      before: before ?? undefined,
      limit
    };
    return this._ask('GET', 'activity', { query });
  }

  /** Changes that were made or got another status after a revision of the journal. */
  news(after: number): Promise<ActivityPage> {
    return this._ask('GET', 'activity', { query: { after, limit: MOST_LISTED } });
  }

  async change(id: string): Promise<Change> {
    return (await this.standing(id)).change;
  }

  /** A change with its current status, and what has happened to its files since. */
  standing(id: string): Promise<IStanding> {
    return this._ask('GET', `changes/${encodeURIComponent(id)}`);
  }

  /** The change with every row of its diffs, if these were cut and its files still allow it; else as it is. */
  async whole(change: Change): Promise<Change> {
    if (!isCut(change) && !hasLongRows(change)) {
      return change;
    }
    const query = { rows: 'all' };
    const asked = this._ask<{ change: Change }>('GET', `changes/${encodeURIComponent(change.id)}`, { query });
    return asked.then(
      ({ change: whole }) => whole,
      () => change
    );
  }

  /** All of a file as a change leaves it; the server then lets the person approve what no diff shows. */
  async content(id: string, path: string): Promise<Blob> {
    const response = await this._send('GET', `changes/${encodeURIComponent(id)}/content`, { query: { path } });
    if (!response.ok) {
      throw new RequestError(refusalIn(parsed(await response.text()), response));
    }
    return response.blob();
  }

  /** The files of a change before and after it, as far as both are still known. */
  async sides(id: string): Promise<IFileSides[]> {
    const query = { sides: 'true' };
    return (await this._ask<{ sides: IFileSides[] }>('GET', `changes/${encodeURIComponent(id)}`, { query })).sides;
  }

  /** Decide about a change, or about some of its hunks. */
  async decide(id: string, decision: Decision, body: IDecisionDetail = {}): Promise<Change> {
    const path = `changes/${encodeURIComponent(id)}/${decision}`;
    return (await deciding.run(() => this._ask<{ change: Change }>('POST', path, { body }))).change;
  }

  /** The newest changes of a file with a status, newest first, with their diffs; `total`: how many there are. */
  changesOf(path: string, status: Change['status'], limit: number): Promise<{ changes: Change[]; total: number }> {
    return this._ask('GET', 'changes', { query: { path, status, limit } });
  }

  /** Waiting changes: the newest 1000, newest first, without their diffs. */
  waiting(): Promise<Change[]> {
    return this._all('proposed');
  }

  /** The same for applied changes, of a file or below a folder. */
  made(path?: string): Promise<Change[]> {
    return this._all('applied', path);
  }

  private async _all(status: Change['status'], path?: string): Promise<Change[]> {
    const query = { status, path, diffs: 'false', limit: MOST_LISTED };
    return (await this._ask<{ changes: Change[] }>('GET', 'changes', { query })).changes;
  }

  /** Decide about changes in the order of their ids. */
  async decideAll(decision: 'approve' | 'reject', ids: string[]): Promise<IOutcome[]> {
    return (await this._ask<{ outcomes: IOutcome[] }>('POST', `changes/${decision}`, { body: { ids } })).outcomes;
  }

  /** Undo the newest change of a file that is still in effect. */
  async undoLast(path: string): Promise<Change> {
    return (await this._ask<{ change: Change }>('POST', 'changes/undo', { body: { path } })).change;
  }

  /** The tokens that the person has made for assistants, newest first. */
  async tokens(): Promise<IAssistantToken[]> {
    return (await this._ask<{ tokens: IAssistantToken[] }>('GET', 'tokens')).tokens;
  }

  /** Revoke a token, with immediate effect. */
  async revokeToken(id: string): Promise<void> {
    await this._ask('DELETE', `tokens/${encodeURIComponent(id)}`);
  }

  /** The programs whose format of configuration the server knows. */
  async clients(): Promise<IClient[]> {
    return (await this._ask<{ clients: IClient[] }>('GET', 'clients')).clients;
  }

  /** Make a token for a program, which uses the same address of the server as this page. */
  connect({ client, ...asked }: INewConnection): Promise<IConnection> {
    const url = new URL(this._settings.baseUrl, document.baseURI).href;
    return this._ask('POST', `clients/${encodeURIComponent(client)}`, { body: { ...asked, url } });
  }

  /** Whether a token was used; the server answers as soon as it is, or after `WAITS` seconds. */
  async isUsed(id: string, signal: AbortSignal): Promise<boolean> {
    const path = `tokens/${encodeURIComponent(id)}`;
    const token = await this._ask<IAssistantToken>('GET', path, { query: { wait: WAITS }, signal });
    return token.last_used_at !== null;
  }

  private async _ask<T>(method: string, path: string, parts: IRequestParts = {}): Promise<T> {
    const response = await this._send(method, path, parts);
    const answer = parsed(
      await response.text().catch(error => {
        throw unreachable(error);
      })
    );
    if (response.ok && (answer !== null || response.status === 204)) {
      return answer as T;
    }
    throw new RequestError(refusalIn(answer, response));
  }

  private async _send(method: string, path: string, parts: IRequestParts): Promise<Response> {
    const given = Object.entries(parts.query ?? {}).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const url = URLExt.join(this._settings.baseUrl, 'api/fstools', path) + (given.length ? `?${query}` : '');
    const body = method === 'POST' ? JSON.stringify(parts.body ?? {}) : undefined;
    const init = { method, body, signal: parts.signal };
    return ServerConnection.makeRequest(url, init, this._settings).catch(error => {
      throw unreachable(error);
    });
  }
}

function unreachable(error: unknown): RequestError {
  return new RequestError({ code: 'unreachable', message: String(error), hint: '', details: {} });
}

function refusalIn(answer: unknown, { status, statusText }: Response): IRefusal {
  // Below 500 another program answered, or a server without this extension's other half.
  const unclear = { code: status < 500 ? 'foreign' : 'io', message: `${status} ${statusText}`, hint: '', details: {} };
  return (answer as { error?: IRefusal } | null)?.error ?? unclear;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
