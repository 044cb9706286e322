/** Defines the tokens that other extensions may ask for. */

import type { ISignal } from '@lumino/signaling';

import { Token } from '@lumino/coreutils';

import type { ActivityPage, Change, ChangeEvent } from '../payloads';

/** A read, a change or a refusal. */
export type Entry = ActivityPage['entries'][number];

/** Limits the entries that the feed lists; an absent property limits nothing. */
export interface IActivityFilter {
  kinds: readonly Entry['kind'][];
  session?: string;
  /** A file, or a folder with all below it. */
  path?: string;
  /** A part of the path; case is ignored. */
  match?: string;
  /** Only changes have a status, so reads and refusals are left out then. */
  status?: ChangeEvent['status'];
}

/** Activity on the files below the server's root, newest first and kept current. */
export interface IActivityFeed {
  /** Entries that are listed now. */
  readonly entries: readonly Entry[];
  /** All known sessions, listed or not. */
  readonly sessions: readonly string[];
  /** How many changes wait for a person, listed or not. */
  readonly waiting: number;
  /** Whether there are older entries to load. */
  readonly hasMore: boolean;
  /** Whether the entries for the filter are still being loaded. */
  readonly isLoading: boolean;
  /** Why the list cannot be updated; empty while it can. */
  readonly problem: string;
  /** Limits of the list; setting them loads it again. */
  filter: IActivityFilter;
  /** Ids of the changes that this page has shown in full. */
  readonly shown: ReadonlySet<string>;
  /** Emitted when any of the above has changed. */
  readonly changed: ISignal<IActivityFeed, void>;
  /** Emitted with the files of each new step of a change, listed or not; with null where any file may have changed. */
  readonly heard: ISignal<IActivityFeed, readonly string[] | null>;
  /** Record a change as this page has just decided it, without waiting for the server's event. */
  note(change: Change): void;
  /** Record that the person was shown a change in full. */
  noteShown(id: string): void;
  /** Ids of the proposals that do not fit a document as it is on this page. */
  readonly staleHere: ReadonlySet<string>;
  /** Record that exactly these proposals do not fit a document as it is on this page. */
  noteStale(document: object, ids: ReadonlySet<string>): void;
  /** Emitted with the ids of proposals that do not fit a document whenever it is drawn, e.g. after typing. */
  readonly typedOver: ISignal<IActivityFeed, ReadonlySet<string>>;
  /** List older entries too. */
  loadMore(): Promise<void>;
  /** Ask the server for everything again. */
  refresh(): Promise<void>;
}

export const IActivityFeed = new Token<IActivityFeed>(
  'jupyter-fstools:IActivityFeed',
  'What assistants read, changed and were refused, as it happens.'
);
