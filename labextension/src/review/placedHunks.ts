/** Finds the places of a diff's hunks in a text that may have moved on. */

import type { Change, DiffHunk } from '../payloads';

import { type ICodeLine, isCode, linesOf } from '../diff/diffLines';

/** The side of a diff that a text contains: `old` before a change is made, `new` after it. */
export type Side = 'old' | 'new';

/** The side of a change that its document contains. */
export function sideOf({ status }: Change): Side {
  return status === 'proposed' ? 'old' : 'new';
}

/** Adjacent lines of a text that a change is about; `line` is 0-based. */
export interface IBlock {
  line: number;
  /** Number of its lines in the text. */
  count: number;
  /** The lines of the other side. */
  other: string[];
}

/** A hunk and its blocks in a text; null blocks where the text no longer has the hunk's lines. */
export interface IPlacedHunk {
  position: number;
  blocks: IBlock[] | null;
  hunk: DiffHunk;
  /** Whether lines around the blocks have changed: only the server then knows whether the hunk still fits. */
  isLoose?: boolean;
}

/** Place hunks in a text: where they were made, else where their lines occur exactly once. */
export function placed(hunks: readonly DiffHunk[], text: string, side: Side): IPlacedHunk[] {
  return placedIn(hunks, text.split('\n'), side);
}

function placedIn(hunks: readonly DiffHunk[], lines: readonly string[], side: Side): IPlacedHunk[] {
  return hunks.map((hunk, position) => ({ position, hunk, blocks: blocksOf(hunk, lines, side) }));
}

/** The same; where a hunk's lines do not occur together, place each block by the lines above or below it. */
export function placedLoosely(hunks: readonly DiffHunk[], lines: readonly string[], side: Side): IPlacedHunk[] {
  return placedIn(hunks, lines, side).map(one => {
    const blocks = one.blocks ?? looseBlocks(one.hunk, lines, side);
    return { ...one, blocks, isLoose: blocks !== one.blocks };
  });
}

/** Place the hunks of a cell: of a made change loosely, as undo does; of a proposal only where the server does. */
export function placedInCell(hunks: readonly DiffHunk[], source: string, side: Side): IPlacedHunk[] {
  return side === 'new' ? placedLoosely(hunks, source.split('\n'), side) : placed(hunks, source, side);
}

/** The text of one side of some hunks. */
export function textOf(hunks: readonly DiffHunk[], side: Side): string {
  return hunks.flatMap(hunk => linesOfSide(hunk, side)).join('\n');
}

function linesOfSide(hunk: DiffHunk, side: Side): string[] {
  return rowsOfSide(hunk, side).map(row => row.text);
}

/**
 * Apply some hunks to a text that contains their old side; null where one of them has no place in it.
 *
 * @param chosen - by position, the text to write in the hunk's place; null: the proposed text.
 */
export function textWith(
  hunks: readonly DiffHunk[],
  text: string,
  chosen: ReadonlyMap<number, string | null>
): string | null {
  return linesWith(hunks, text.split('\n'), chosen);
}

/** The same for a cell's source. */
export function sourceWith(
  hunks: readonly DiffHunk[],
  source: string,
  chosen: ReadonlyMap<number, string | null>
): string | null {
  return linesWith(hunks, linesOfSource(source), chosen);
}

/** The lines of a cell's source; an empty source has none. */
export function linesOfSource(source: string): string[] {
  return source === '' ? [] : source.split('\n');
}

/** An edit that replaces the characters of a text from `from` up to `to`. */
export interface ITextEdit {
  from: number;
  to: number;
  insert: string;
}

/**
 * The edits that undo some hunks of a change; null where one of them has no place in the text.
 *
 * @param lines - of a text that contains the change.
 */
export function editsBack(
  hunks: readonly DiffHunk[],
  lines: readonly string[],
  positions: ReadonlySet<number>
): ITextEdit[] | null {
  const found = placedLoosely(hunks, lines, 'new').filter(({ position }) => positions.has(position));
  const blocks = found.map(one => one.blocks);
  if (blocks.includes(null)) {
    return null;
  }
  found.forEach(one => endAs(one.hunk, one.blocks!, lines, 'new'));
  const starts = [0];
  lines.forEach((line, at) => starts.push(starts[at] + line.length + 1));
  return joined(blocks.flatMap(ofHunk => ofHunk!)).map(block => editOf(block, lines, starts));
}

/** Merges adjacent blocks, because their edits would overlap. */
function joined(blocks: readonly IBlock[]): IBlock[] {
  const all: IBlock[] = [];
  for (const block of blocks) {
    const last = all.at(-1);
    if (last && last.line + last.count === block.line) {
      last.count += block.count;
      last.other.push(...block.other);
    } else {
      all.push(block);
    }
  }
  return all;
}

function editOf({ line, count, other }: IBlock, lines: readonly string[], starts: readonly number[]): ITextEdit {
  const end = line + count;
  if (end < lines.length) {
    return { from: starts[line], to: starts[end], insert: other.map(text => `${text}\n`).join('') };
  }
  // The last lines are replaced together with the line ending before them.
  const from = Math.max(0, starts[line] - 1);
  return { from, to: Math.max(0, starts[end] - 1), insert: (line ? ['', ...other] : other).join('\n') };
}

function linesWith(
  hunks: readonly DiffHunk[],
  lines: string[],
  chosen: ReadonlyMap<number, string | null>
): string | null {
  for (const [position, instead] of [...chosen].sort(([one], [other]) => other - one)) {
    const blocks = blocksToWrite(hunks[position], lines, instead);
    if (!blocks) {
      return null;
    }
    endAs(hunks[position], blocks, lines, 'old');
    blocks.reverse().forEach(({ line, count, other }) => lines.splice(line, count, ...other));
  }
  return lines.join('\n');
}

/** Blocks that replace a hunk's old side in lines by its new side, or by the text that the person wrote instead. */
function blocksToWrite(hunk: DiffHunk, lines: readonly string[], instead: string | null): IBlock[] | null {
  const here = linesOfSide(hunk, 'old');
  const [line, count] = [startOf(here, lines, expectedStart(hunk, 'old')), here.length];
  if (instead === null) {
    return line < 0 ? looseBlocks(hunk, lines, 'old') : [{ line, count, other: linesOfSide(hunk, 'new') }];
  }
  // The person's text includes the lines around the change, so it is not placed where those have changed since.
  return line < 0 ? null : [{ line, count, other: instead === '' && !hunk.new_count ? [] : instead.split('\n') }];
}

/** Let a hunk at the end of lines also add or remove the final newline, which is an empty last line. */
function endAs(hunk: DiffHunk, blocks: readonly IBlock[], lines: readonly string[], side: Side): void {
  const block = blocks.at(-1)!;
  const end = block.line + block.count;
  const other = side === 'old' ? 'new' : 'old';
  const [lacked, lacks] = [side, other].map(one => rowsOfSide(hunk, one as Side).at(-1)?.endsFile ?? false);
  if (lacked && !lacks && end === lines.length) {
    block.other.push('');
  } else if (lacks && !lacked && end === lines.length - 1 && lines[end] === '') {
    block.count++;
  }
}

function rowsOfSide(hunk: DiffHunk, side: Side): ICodeLine[] {
  const gone = side === 'old' ? 'add' : 'remove';
  return rowsOf(hunk).filter(row => row.kind !== gone);
}

function rowsOf(hunk: DiffHunk): ICodeLine[] {
  return linesOf([hunk], true).filter(isCode);
}

function expectedStart(hunk: DiffHunk, side: Side): number {
  const [start, count] = side === 'old' ? [hunk.old_start, hunk.old_count] : [hunk.new_start, hunk.new_count];
  return count ? start - 1 : start;
}

function blocksOf(hunk: DiffHunk, lines: readonly string[], side: Side): IBlock[] | null {
  const start = startOf(linesOfSide(hunk, side), lines, expectedStart(hunk, side));
  return start < 0 ? null : blocksFrom(start, hunk, side);
}

/** Places each block where it occurs exactly once together with the lines above it, or with those below it. */
function looseBlocks(hunk: DiffHunk, lines: readonly string[], side: Side): IBlock[] | null {
  const whole = linesOfSide(hunk, side);
  const blocks = blocksFrom(0, hunk, side);
  let before = 0;
  for (const [index, block] of blocks.entries()) {
    const { line: first, count } = block;
    const end = blocks[index + 1]?.line ?? whole.length;
    const above = startOf(whole.slice(before, first + count), lines, -1);
    const below = startOf(whole.slice(first, end), lines, -1);
    const line = above >= 0 ? above + first - before : below;
    if (line < (index ? blocks[index - 1].line + blocks[index - 1].count : 0)) {
      return null;
    }
    before = first + count;
    block.line = line;
  }
  return blocks;
}

/** The blocks of a hunk that begins at a line of a text. */
function blocksFrom(start: number, hunk: DiffHunk, side: Side): IBlock[] {
  const gone = side === 'old' ? 'add' : 'remove';
  let line = start;
  const blocks: IBlock[] = [];
  let block: IBlock | null = null;
  for (const row of rowsOf(hunk)) {
    if (row.kind === 'context') {
      block = null;
      line++;
      continue;
    }
    if (block === null) {
      block = { line, count: 0, other: [] };
      blocks.push(block);
    }
    if (row.kind === gone) {
      block.other.push(row.text);
    } else {
      block.count++;
      line++;
    }
  }
  return blocks;
}

function startOf(wanted: readonly string[], lines: readonly string[], expected: number): number {
  if (!wanted.length) {
    return lines.length < 2 && !lines[0] ? expected : -1; // An empty side only fits an empty text.
  }
  const isAt = (at: number) => wanted.every((line, index) => lines[at + index] === line);
  if (expected <= lines.length && isAt(expected)) {
    return expected;
  }
  const found = lines.flatMap((_, at) => (isAt(at) ? [at] : []));
  return found.length === 1 ? found[0] : -1;
}
