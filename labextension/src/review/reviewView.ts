/** Defines the interface between a document's review and its views. */

import type { CellDiff, Change } from '../payloads';
import type { IInlineMark } from './inlineMarks';
import type { IPlacedHunk } from './placedHunks';

/** Facts that are shown with the buttons of hunks, or decide about them. */
export interface IShownBeside {
  /** Names a change other than of lines; empty for lines alone. */
  note: string;
  /** The proposed text, for the person to edit; null where the hunk has no text of its own. */
  proposed: string | null;
  /** Whether there are old lines to show. */
  hasOld: boolean;
  /** Whether the cell is no longer as the change expects it, or as it left it. */
  movedOn: boolean;
}

/** A text to write instead of a whole proposal, and the text it was made from; by cell for a notebook. */
export type IWritten =
  { content: string; base: string } | { content: Record<string, string>; base: Record<string, string> };

/** Makes marks and buttons for hunks and cells of changes. */
export interface IMarker {
  /** Whether the person has already kept a hunk. */
  isKept(change: Change, name: string): boolean;
  /** A mark in an editor. */
  mark(change: Change, hunk: IPlacedHunk, cell: CellDiff | null): IInlineMark;
  /** The buttons for hunks that are decided together. */
  controls(change: Change, names: readonly string[], shown: IShownBeside): HTMLElement;
  /** Changes when a hunk's mark or buttons must be drawn again. */
  key(change: Change, name: string): string;
}

/** A line of a document's text, or of a cell of a notebook; both are counted from 0. */
export type Position = readonly [cell: number, line: number];

/** A change in a document, for the keyboard to lead to. */
export interface IPlace {
  at: Position;
  /** Names the change, wherever it moves. */
  id: string;
  /** Scroll to it, and go there. */
  reveal(): void;
}

/** Hunks of a proposal that only the server can judge. */
export interface IDoubt {
  names: ReadonlySet<string>;
  /** The state of the document that the server's answer depends on. */
  about: string;
}

/** Draws changes in one kind of document. */
export interface IReviewView {
  /** Draw exactly these changes; called again whenever they or the document change. */
  draw(changes: readonly Change[]): void;
  /** By id of proposal, the names of its hunks that no longer fit. */
  readonly stale: ReadonlyMap<string, ReadonlySet<string>>;
  /** By id of proposal, its hunks of which only the server knows whether they fit. */
  readonly doubts: ReadonlyMap<string, IDoubt>;
  /** Ids of the applied changes of which the document no longer contains anything. */
  readonly gone: ReadonlySet<string>;
  /** Whether a person sees here what a proposal changes: a notebook's change is not shown in its text. */
  shows(change: Change): boolean;
  /** The changes to lead to, in the document's order. */
  places(): IPlace[];
  /** Where the person is. */
  readonly here: Position;
  /** Replace hunks by their old text, as the person's own edit; false where their place cannot be found. */
  putBack(change: Change, names: readonly string[]): boolean;
  /** The current text with the approved parts of a proposal applied; null where a part has no place in it. */
  written(change: Change, chosen: ReadonlyMap<string, string | null>): IWritten | null;
  dispose(): void;
}
