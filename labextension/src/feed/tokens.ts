/** Defines the tokens that other extensions may ask for. */

import type { ISignal } from '@lumino/signaling';

import { Token } from '@lumino/coreutils';

import type { ActivityPage, Change, ChangeEvent } from '../payloads';

/** A read, a change or a refusal. */
export type Entry = ActivityPage['entries'][number];

/** What the feed is asked to list; an absent property asks for everything. */
export interface IActivityFilter {
  kinds: readonly Entry['kind'][];
  session?: string;
  /** A file, or a folder with all below it. */
  path?: string;
  /** A part of the path, in capitals or not. */
  match?: string;
  /** Only changes have one: everything else is left out then. */
  status?: ChangeEvent['status'];
}

/** What happened to the files below the server's root, newest first, and kept up to date. */
export interface IActivityFeed {
  /** What is listed now. */
  readonly entries: readonly Entry[];
  /** The sessions heard of, listed or not. */
  readonly sessions: readonly string[];
  /** How many changes wait for a person, listed or not. */
  readonly waiting: number;
  /** Whether there are older entries to load. */
  readonly hasMore: boolean;
  /** Whether what the filter asks for is still to come. */
  readonly isLoading: boolean;
  /** Why nothing new can be told; empty while all is well. */
  readonly problem: string;
  /** What the list is limited to. */
  filter: IActivityFilter;
  /** The changes of which this page has shown all that they do, by their ids. */
  readonly shown: ReadonlySet<string>;
  /** Emitted when any of the above is another. */
  readonly changed: ISignal<IActivityFeed, void>;
  /** Emitted with the files of changes heard of, listed or not; with null where any file may have changed. */
  readonly heard: ISignal<IActivityFeed, readonly string[] | null>;
  /** Take note of what this page made of a change, without waiting for the server to tell. */
  note(change: Change): void;
  /** Take note that the person was shown all that a change does. */
  noteShown(id: string): void;
  /** The proposals that do not fit a document as it is on this page, by their ids. */
  readonly staleHere: ReadonlySet<string>;
  /** Take note that these proposals do not fit a document as it is on this page, and no others of it. */
  noteStale(document: object, ids: ReadonlySet<string>): void;
  /** Emitted with the proposals that do not fit a document when that is drawn: it may have been typed in. */
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
