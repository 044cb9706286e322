/** Finds the words that changed where added lines replace removed ones. */

import { presentableDiff } from '@codemirror/merge';

import type { IStyledRange } from './styledText';

/** The changed words of each removed and of each added line. */
export interface IChangedWords {
  removed: IStyledRange[][];
  added: IStyledRange[][];
}

const CHANGED = 'jp-fstools-Diff-word';
const MOST_CHARACTERS = 20_000;
const SCAN_LIMIT = 500;
/** A line that keeps less of its characters than this share is a new line rather than a changed one. */
const LEAST_KEPT = 0.3;

/** Compare two runs of lines word by word; a line that is new as a whole has no changed words. */
export function changedWords(removed: readonly string[], added: readonly string[]): IChangedWords {
  const before = removed.join('\n');
  const after = added.join('\n');
  if (before.length + after.length > MOST_CHARACTERS) {
    return { removed: removed.map(() => []), added: added.map(() => []) };
  }
  const changes = presentableDiff(before, after, { scanLimit: SCAN_LIMIT });
  return {
    removed: rangesByLine(
      removed,
      changes.map(({ fromA, toA }) => [fromA, toA])
    ),
    added: rangesByLine(
      added,
      changes.map(({ fromB, toB }) => [fromB, toB])
    )
  };
}

/** Ranges of a text as ranges of its lines. */
function rangesByLine(lines: readonly string[], ranges: readonly number[][]): IStyledRange[][] {
  let start = 0;
  let next = 0;
  return lines.map(line => {
    const end = start + line.length;
    const found: IStyledRange[] = [];
    while (next < ranges.length && ranges[next][1] <= start) {
      next++;
    }
    for (let at = next; at < ranges.length && ranges[at][0] < end; at++) {
      const from = Math.max(ranges[at][0], start) - start;
      const to = Math.min(ranges[at][1], end) - start;
      if (from < to) {
        found.push({ from, to, classes: CHANGED });
      }
    }
    start = end + 1;
    return keepsEnough(line, found) ? found : [];
  });
}

function keepsEnough(line: string, changed: readonly IStyledRange[]): boolean {
  const visible = (text: string) => text.replace(/\s/g, '').length;
  const gone = changed.reduce((sum, { from, to }) => sum + visible(line.slice(from, to)), 0);
  const all = visible(line);
  return all > 0 && (all - gone) / all >= LEAST_KEPT;
}
