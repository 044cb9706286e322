/** Lists a change's files, and tells whether their diffs were cut. */

import type { Change, ChangedFile } from '../payloads';

/** Length up to which the server leaves the rows of a diff whole. */
const MOST_ROW_CHARACTERS = 1000;

/** Every file of a change, one or several. */
export function filesOf(change: Change): Pick<ChangedFile, 'path' | 'diff'>[] {
  return change.files.length ? change.files : [change];
}

/** Whether a change is of a file. */
export function isOf(change: Change, path: string): boolean {
  return filesOf(change).some(file => file.path === path);
}

/** Whether rows of a change's diffs were left out or cut. */
export function isCut(change: Change): boolean {
  return filesOf(change).some(({ diff }) => diff.truncated);
}

/** Whether a row is so long that it is cut; only changed ones count as cut for `truncated`. */
export function hasLongRows(change: Change): boolean {
  const hunks = filesOf(change).flatMap(({ diff }) => [
    ...diff.hunks,
    ...(diff.cells ?? []).flatMap(cell => cell.hunks)
  ]);
  return hunks.some(({ rows }) => rows.some(({ text }) => text.length > MOST_ROW_CHARACTERS));
}
