/** Turns a diff's hunks into the rows and folds that a view shows. */

import type { DiffHunk, DiffRow } from '../payloads';

/**
 * One line of a file, before or after its change.
 *
 * `old` and `new` are 1-based line numbers, 0 on the side that has none. `ending` names its line ending; it is empty
 * where that need not be shown.
 */
export interface ICodeLine {
  kind: DiffRow['kind'];
  old: number;
  new: number;
  text: string;
  ending: '' | 'LF' | 'CRLF';
  endsFile: boolean;
  hunk: number;
}

/** Lines left out; `unchanged` says that no change is among them. */
export interface IFold {
  kind: 'fold';
  count: number;
  unchanged: boolean;
}

export type DiffLine = ICodeLine | IFold;

/** Removed lines and the added ones that replace them, as indexes of lines. */
export interface IReplacement {
  removed: number[];
  added: number[];
}

/** Suffix of a row's text where the file ends without a newline, as in a unified diff. */
const NO_FINAL_NEWLINE = '\n\\ No newline at end of file';

/**
 * The lines of all hunks in order, with a fold wherever lines of the file are left out.
 *
 * @param truncated - whether the diff was cut: then lines between hunks may have changed, too.
 */
export function linesOf(hunks: readonly DiffHunk[], truncated: boolean): DiffLine[] {
  const mixed = hasBothEndings(hunks);
  const lines: DiffLine[] = [];
  let at = 1;
  hunks.forEach((hunk, index) => {
    // An empty side's start is the line before it.
    const start = hunk.old_count ? hunk.old_start : hunk.old_start + 1;
    if (start > at) {
      lines.push({ kind: 'fold', count: start - at, unchanged: !truncated });
    }
    for (const row of hunk.rows) {
      lines.push(codeLine(row, index, mixed));
    }
    at = start + hunk.old_count;
  });
  return lines;
}

/** The places where added lines follow removed ones. */
export function replacementsIn(lines: readonly DiffLine[]): IReplacement[] {
  const found: IReplacement[] = [];
  let current: IReplacement = { removed: [], added: [] };
  const close = () => {
    if (current.removed.length && current.added.length) {
      found.push(current);
    }
    current = { removed: [], added: [] };
  };
  lines.forEach((line, index) => {
    if (line.kind === 'add') {
      current.added.push(index);
    } else {
      if (line.kind !== 'remove' || current.added.length) {
        close();
      }
      if (line.kind === 'remove') {
        current.removed.push(index);
      }
    }
  });
  close();
  return found;
}

/** Whether a line is a line of the file rather than a fold. */
export function isCode(line: DiffLine): line is ICodeLine {
  return line.kind !== 'fold';
}

/** Indexes of the lines that form one text: for each hunk, its old side and its new side. */
export function sidesOf(lines: readonly DiffLine[]): number[][] {
  const hunks: number[][] = [];
  lines.forEach((line, index) => {
    if (isCode(line)) {
      (hunks[line.hunk] ??= []).push(index);
    }
  });
  return hunks.flatMap(indexes =>
    ['remove', 'add']
      .filter(kind => indexes.some(index => lines[index].kind === kind))
      .map(kind => indexes.filter(index => [kind, 'context'].includes(lines[index].kind)))
  );
}

function codeLine(row: DiffRow, hunk: number, mixed: boolean): ICodeLine {
  const endsFile = row.text.endsWith(NO_FINAL_NEWLINE);
  return {
    kind: row.kind,
    old: row.old,
    new: row.new,
    text: endsFile ? row.text.slice(0, -NO_FINAL_NEWLINE.length) : row.text,
    ending: !mixed || endsFile || row.kind === 'context' ? '' : row.crlf ? 'CRLF' : 'LF',
    endsFile,
    hunk
  };
}

function hasBothEndings(hunks: readonly DiffHunk[]): boolean {
  const endings = new Set<boolean>();
  for (const { rows } of hunks) {
    rows.filter(row => !row.text.endsWith(NO_FINAL_NEWLINE)).forEach(row => endings.add(row.crlf ?? false));
  }
  return endings.size > 1;
}
