/** Names what a document's review needs of the views that draw it. */

import type { CellDiff, Change } from '../payloads';
import type { IInlineMark } from './inlineMarks';
import type { IPlacedHunk } from './placedHunks';

/** What is told beside the buttons of hunks. */
export interface IShownBeside {
  /** What happens there beside lines; empty for lines alone. */
  note: string;
  /** What would stand there, for the person to edit; null where there is no text of its own. */
  proposed: string | null;
  /** Whether there are lines of before to be shown. */
  hasOld: boolean;
  /** Whether what was made there is another by now. */
  movedOn: boolean;
}

/** A text to be written instead of all of a proposal, and the one it was made from; of a notebook by cell. */
export type IWritten =
  { content: string; base: string } | { content: Record<string, string>; base: Record<string, string> };

/** Makes marks and buttons for hunks and cells of changes. */
export interface IMarker {
  /** Whether a person has kept it already. */
  isKept(change: Change, name: string): boolean;
  /** A mark in an editor. */
  mark(change: Change, hunk: IPlacedHunk, cell: CellDiff | null): IInlineMark;
  /** The buttons for hunks that are decided about at once, and by what they are known again. */
  controls(change: Change, names: readonly string[], shown: IShownBeside): HTMLElement;
  key(change: Change, name: string): string;
}

/** Draws changes in one kind of document. */
export interface IReviewView {
  /** Draw these, and no others; called again whenever they or the document are others. */
  draw(changes: readonly Change[]): void;
  /** The proposals that are drawn and no longer fit, by their ids: the names of the hunks that do not. */
  readonly stale: ReadonlyMap<string, ReadonlySet<string>>;
  /** The proposals of which the server alone knows whether they fit, by their ids: what the answer depends on. */
  readonly doubts: ReadonlyMap<string, string>;
  /** The changes that were made and of which the document has nothing any more, by their ids. */
  readonly gone: ReadonlySet<string>;
  /** What brings each change into sight, in the document's order. */
  places(): (() => void)[];
  /** Write the text of before in the place of hunks, as the person's own edit; false where it cannot be found. */
  putBack(change: Change, names: readonly string[]): boolean;
  /** What the person has taken of a proposal, in the text as it is now; null where a part has no place in it. */
  written(change: Change, chosen: ReadonlyMap<string, string | null>): IWritten | null;
  dispose(): void;
}
