/** Turns a diff's lines into those of an editor, where a lone carriage return ends a line, too. */

import { Chunk } from '@codemirror/merge';
import { Text } from '@codemirror/state';

import type { DiffHunk, DiffRow, FileDiff } from '../payloads';

/** Unchanged lines to keep above and below a change, as in a diff. */
const CONTEXT = 3;

/** A text with each line ended as in an editor. */
export function inEditor(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** A diff whose hunks have the lines that an editor shows. */
export function diffInEditor(diff: FileDiff): FileDiff {
  const cells = diff.cells?.map(cell => ({ ...cell, hunks: cell.hunks.map(hunkInEditor) })) ?? null;
  return { ...diff, hunks: diff.hunks.map(hunkInEditor), cells };
}

function hunkInEditor(hunk: DiffHunk): DiffHunk {
  if (!hunk.rows.some(({ text }) => text.includes('\r'))) {
    return hunk;
  }
  const rows = rowsBetween(linesOf(hunk, 'add'), linesOf(hunk, 'remove'));
  const changed = rows.map(({ kind }) => kind !== 'context');
  const from = Math.max(0, changed.indexOf(true) - CONTEXT);
  const kept = rows.slice(from, changed.lastIndexOf(true) + 1 + CONTEXT);
  const oldCount = kept.filter(({ kind }) => kind !== 'add').length;
  const newCount = kept.filter(({ kind }) => kind !== 'remove').length;
  // An empty side's start is the line before it.
  const start = (at: number, lines: number, count: number) => at + (lines ? from : 0) - (lines && !count ? 1 : 0);
  return {
    old_start: start(hunk.old_start, hunk.old_count, oldCount),
    old_count: oldCount,
    new_start: start(hunk.new_start, hunk.new_count, newCount),
    new_count: newCount,
    rows: kept.map(row => ({
      ...row,
      old: row.old && row.old + hunk.old_start - 1,
      new: row.new && row.new + hunk.new_start - 1
    }))
  };
}

/** The lines of one side of a hunk. */
function linesOf({ rows }: DiffHunk, gone: DiffRow['kind']): string[] {
  return rows.filter(({ kind }) => kind !== gone).flatMap(({ text }) => text.split('\r'));
}

/** The rows that lead from some lines to others, numbered from 1; all of them where only line endings differ. */
function rowsBetween(old: readonly string[], now: readonly string[]): DiffRow[] {
  const [a, b] = [textOf(old), textOf(now)];
  const chunks = Chunk.build(a, b).map(({ fromA, toA, toB }) => [lineAt(a, fromA), lineAt(a, toA), lineAt(b, toB)]);
  const rows: DiffRow[] = [];
  let [oldAt, newAt] = [0, 0];
  const same = (until: number) => {
    while (oldAt < until) {
      rows.push({ kind: 'context', text: old[oldAt], old: ++oldAt, new: ++newAt, crlf: false });
    }
  };
  for (const [from, oldEnd, newEnd] of chunks.length ? chunks : [[0, old.length, now.length]]) {
    same(from);
    while (oldAt < oldEnd) {
      rows.push({ kind: 'remove', text: old[oldAt], old: ++oldAt, new: 0, crlf: false });
    }
    while (newAt < newEnd) {
      rows.push({ kind: 'add', text: now[newAt], old: 0, new: ++newAt, crlf: false });
    }
  }
  same(old.length);
  return rows;
}

/** A document of these lines; a diff's note that the file ends without a newline belongs to its line. */
function textOf(lines: readonly string[]): Text {
  return Text.of(lines.length ? lines.map(line => line.replace('\n', ' ')) : ['']);
}

/** The number of lines before an offset. */
function lineAt(text: Text, at: number): number {
  return at > text.length ? text.lines : text.lineAt(at).number - 1;
}
