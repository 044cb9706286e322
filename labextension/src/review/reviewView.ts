/** Names what a document's review needs of the views that draw it. */

import type { CellDiff, Change } from '../payloads';
import type { IInlineMark } from './inlineMarks';
import type { IPlacedHunk } from './placedHunks';

/** Makes marks and buttons for hunks and cells of changes. */
export interface IMarker {
  /** Whether a person has kept it already. */
  isKept(change: Change, name: string): boolean;
  /** A mark in an editor. */
  mark(change: Change, hunk: IPlacedHunk, cell: CellDiff | null): IInlineMark;
  /** The buttons for hunks that are decided about at once, and by what they are known again. */
  controls(change: Change, names: readonly string[], note: string, proposed: string | null): HTMLElement;
  key(change: Change, name: string): string;
}

/** Draws changes in one kind of document. */
export interface IReviewView {
  /** Draw these, and no others; called again whenever they or the document are others. */
  draw(changes: readonly Change[]): void;
  /** How many of the proposals that are drawn no longer fit. */
  readonly stale: number;
  /** What brings each change into sight, in the document's order. */
  places(): (() => void)[];
  /** Write the text of before in the place of hunks, as the person's own edit; false where it cannot be found. */
  putBack(change: Change, names: readonly string[]): boolean;
  /** A text with what the person has taken of a proposal, written instead of all of it; of a notebook by cell. */
  written(change: Change, chosen: ReadonlyMap<string, string | null>): string | Record<string, string>;
  dispose(): void;
}
