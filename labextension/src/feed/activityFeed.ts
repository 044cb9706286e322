/** Keeps the list of activity current, from the event stream and the journal. */

import type { Event } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { JSONExt } from '@lumino/coreutils';
import { Poll } from '@lumino/polling';
import { Signal } from '@lumino/signaling';

import type { ActivityEvent, Change, ChangeEvent } from '../payloads';
import type { ToolsServer } from './requests';
import type { Entry, IActivityFeed, IActivityFilter } from './tokens';

import { entryOf, isNarrow, isStep, isWanted, merged, pathsOf } from './entries';
import { RequestError } from './requests';
import { Soon } from './soon';

const CHANGE_EVENT = 'https://schema.jupyter.org/jupyter_fstools/change/v1';
const ACTIVITY_EVENT = 'https://schema.jupyter.org/jupyter_fstools/activity/v1';

const EVERY_KIND = ['change', 'read', 'refusal'] as const;
const LOOK_EVERY = 10_000;
const COUNT_EVERY = 250;

/** Follows the server. */
export class ActivityFeed implements IActivityFeed, IDisposable {
  constructor(options: ActivityFeed.IOptions) {
    this._server = options.server;
    this._stream = options.stream;
    this._trans = options.trans;
    this._filter = options.filter;
    this._stream.connect(this._onEvent, this);
    this._count = new Soon(() => this._catchUp(), COUNT_EVERY);
    this._poll = new Poll({
      auto: false,
      name: 'jupyter-fstools:ActivityFeed',
      factory: () => this._look(),
      frequency: { interval: options.interval ?? LOOK_EVERY, backoff: true, max: 15_000 },
      standby: options.standby ?? 'when-hidden'
    });
  }

  readonly changed = new Signal<this, void>(this);
  readonly heard = new Signal<this, readonly string[] | null>(this);
  readonly typedOver = new Signal<this, ReadonlySet<string>>(this);

  get entries(): readonly Entry[] {
    const isStale = (entry: Entry) => entry.kind === 'change' && this._staleHere.has(entry.id);
    return this._staleHere.size
      ? this._entries.map(entry => (isStale(entry) ? { ...(entry as ChangeEvent), stale: true } : entry))
      : this._entries;
  }

  get sessions(): readonly string[] {
    return [...this._sessions];
  }

  get waiting(): number {
    const isFitting = (entry: Entry) => entry.kind === 'change' && entry.status === 'proposed' && !entry.stale;
    const fitting = this._staleHere.size ? this._entries.filter(isFitting) : [];
    return Math.max(0, this._waiting - fitting.filter(({ id }) => this._staleHere.has(id)).length);
  }

  get hasMore(): boolean {
    return this._next !== null;
  }

  get isLoading(): boolean {
    return this._isStale && this._problem === '';
  }

  get problem(): string {
    return this._problem;
  }

  get filter(): IActivityFilter {
    return this._filter;
  }

  set filter(filter: IActivityFilter) {
    this._filter = filter;
    this._entries = [];
    this._next = null;
    this._isStale = true;
    this.changed.emit();
    void this.refresh();
  }

  get shown(): ReadonlySet<string> {
    return this._shown;
  }

  noteShown(id: string): void {
    if (!this._shown.has(id)) {
      this._shown.add(id);
      this.changed.emit();
    }
  }

  get staleHere(): ReadonlySet<string> {
    return this._staleHere;
  }

  noteStale(document: object, ids: ReadonlySet<string>): void {
    const known = this._staleIn.get(document) ?? new Set();
    if (ids.size !== known.size || [...ids].some(id => !known.has(id))) {
      this._staleIn.set(document, ids);
      if (!ids.size) {
        this._staleIn.delete(document);
      }
      this._staleHere = new Set([...this._staleIn.values()].flatMap(stale => [...stale]));
      this.changed.emit();
    }
    if (ids.size) {
      this.typedOver.emit(ids);
    }
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._stream.disconnect(this._onEvent, this);
    this._count.dispose();
    this._poll.dispose();
    Signal.clearData(this);
  }

  /** Begin to follow the server. */
  async start(): Promise<void> {
    await this._poll.start();
    await this._poll.tick;
  }

  async refresh(): Promise<void> {
    const meanwhile: Entry[] = (this._meanwhile = []);
    await this._asked(async () => {
      const page = await this._server.activity(this._filter);
      if (meanwhile !== this._meanwhile || this.isDisposed) {
        return;
      }
      this._revision = Math.max(this._revision, page.revision);
      void this._meetSessions(page.entries);
      this._entries = merged([], page.entries);
      this._next = page.next;
      this._isStale = false;
      this._waiting = page.proposed;
      this._meanwhile = null;
      this._add(meanwhile);
      this.heard.emit(null);
      if (meanwhile.length) {
        this._count.ask();
      }
    });
  }

  /** Collect the sessions to choose from; a filtered page names only some, so ask for all while the list is shown. */
  private async _meetSessions(listed: readonly Entry[]): Promise<void> {
    listed.forEach(({ session }) => this._sessions.add(session));
    if (isNarrow(this._filter)) {
      const page = await this._server.activity({ kinds: EVERY_KIND }, null, 1000).catch(() => null);
      page?.entries.forEach(({ session }) => this._sessions.add(session));
      this.changed.emit();
    }
  }

  async loadMore(): Promise<void> {
    const { _filter: filter, _next: next } = this;
    if (next === null || this._isLoading) {
      return;
    }
    this._isLoading = true;
    await this._asked(async () => {
      const page = await this._server.activity(filter, next);
      if (filter === this._filter && next === this._next) {
        page.entries.forEach(({ session }) => this._sessions.add(session));
        this._entries = merged(this._entries, page.entries);
        this._next = page.next;
        this.changed.emit();
      }
    });
    this._isLoading = false;
  }

  note(change: Change): void {
    this._add([entryOf(change)]);
    this._count.ask();
  }

  /** Check whether the server answers, and whether any change was missed. */
  private async _look(): Promise<void> {
    await (this._isStale ? this.refresh() : this._catchUp());
    if (this._problem) {
      throw new Error(this._problem);
    }
  }

  /** Add the newer changes of the journal, so that a break in the event stream loses none. */
  private async _catchUp(): Promise<void> {
    await this._asked(async () => {
      const { entries, proposed, revision } = await this._server.news(this._revision);
      const hasRestarted = revision < this._revision;
      this._revision = revision;
      this._waiting = proposed;
      const known = new Map(this._entries.map(entry => [entry.id, entry]));
      this._add(entries.filter(entry => !JSONExt.deepEqual({ ...entry }, { ...known.get(entry.id) })));
      if (hasRestarted) {
        await this.refresh();
      }
    });
  }

  private async _asked(ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
      this._say('');
    } catch (error) {
      this._isStale = true;
      this._say(this._told(error));
    }
  }

  private _told(error: unknown): string {
    if (error instanceof RequestError && error.refusal.code !== 'unreachable') {
      return this._trans.__('The server cannot tell what happened: %1', error.message);
    }
    return this._trans.__('The server cannot be reached. What is shown here may be out of date.');
  }

  private _say(problem: string): void {
    if (problem !== this._problem && !this.isDisposed) {
      this._problem = problem;
      this.changed.emit();
    }
  }

  private _onEvent(_: unknown, event: Event.Emission): void {
    if (event.schema_id === CHANGE_EVENT) {
      const { schema_id: _, ...change } = event;
      this._add([change as unknown as ChangeEvent]);
      this._count.ask();
    } else if (event.schema_id === ACTIVITY_EVENT) {
      const { entries, more } = event as unknown as ActivityEvent;
      if (more) {
        void this.refresh();
      } else {
        this._add(entries);
      }
    }
  }

  private _add(news: Entry[]): void {
    news.forEach(({ session }) => this._sessions.add(session));
    this._meanwhile?.push(...news);
    const known = new Map(this._entries.map(entry => [entry.id, entry]));
    const told = new Set(news.map(entry => entry.id));
    const shown = news.filter(entry => !this._isBelowTheList(entry));
    const entries = merged(this._entries, shown);
    this._entries = entries.filter(entry => !told.has(entry.id) || isWanted(entry, this._filter));
    this.changed.emit();
    const paths = news.filter(entry => isStep(entry, known.get(entry.id))).flatMap(pathsOf);
    if (paths.length) {
      this.heard.emit(paths);
    }
  }

  /** Whether an entry belongs to a page of older entries that is not loaded yet and will contain it. */
  private _isBelowTheList(entry: Entry): boolean {
    return this._next !== null && entry.at < this._next && !this._entries.some(known => known.id === entry.id);
  }

  private _server: ToolsServer;
  private _stream: Event.Stream;
  private _trans: TranslationBundle;
  private _filter: IActivityFilter;
  private _poll: Poll;
  private _count: Soon;
  private _entries: Entry[] = [];
  private _sessions = new Set<string>();
  private _shown = new Set<string>();
  private _staleIn = new Map<object, ReadonlySet<string>>();
  private _staleHere = new Set<string>();
  private _next: number | null = null;
  private _revision = 0;
  private _waiting = 0;
  private _problem = '';
  private _isStale = true;
  private _isLoading = false;
  /** Entries that arrived while the whole list is loaded again: the server's answer may be older. */
  private _meanwhile: Entry[] | null = null;
}

export namespace ActivityFeed {
  /** Options of a feed. */
  export interface IOptions {
    server: ToolsServer;
    stream: Event.Stream;
    trans: TranslationBundle;
    filter: IActivityFilter;
    /** Milliseconds between two polls of the journal, in addition to the event stream. */
    interval?: number;
    standby?: Poll.Standby;
  }
}
