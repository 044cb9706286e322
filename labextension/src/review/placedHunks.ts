/** Finds the places of a diff's hunks in a text that may have moved on. */

import type { Change, DiffHunk } from '../payloads';

import { type ICodeLine, isCode, linesOf } from '../diff/diffLines';

/** Which side of a diff a text has: `old` before a change is made, `new` after it. */
export type Side = 'old' | 'new';

/** Which side of a change its text has. */
export function sideOf({ status }: Change): Side {
  return status === 'proposed' ? 'old' : 'new';
}

/** Neighbouring lines of a text that a change is about; `line` is 0-based. */
export interface IBlock {
  line: number;
  /** How many lines the text has of it. */
  count: number;
  /** The lines of the other side. */
  other: string[];
}

/** A hunk and its blocks in a text; no blocks where the text has other lines by now. */
export interface IPlacedHunk {
  position: number;
  blocks: IBlock[] | null;
  hunk: DiffHunk;
  /** Lines around the blocks are others by now: whether it still fits, the server knows. */
  isLoose?: boolean;
}

/** Place hunks in a text: where they were made, else where their lines stand exactly once. */
export function placed(hunks: readonly DiffHunk[], text: string, side: Side): IPlacedHunk[] {
  return placedIn(hunks, text.split('\n'), side);
}

function placedIn(hunks: readonly DiffHunk[], lines: readonly string[], side: Side): IPlacedHunk[] {
  return hunks.map((hunk, position) => ({ position, hunk, blocks: blocksOf(hunk, lines, side) }));
}

/** The same; where a hunk's lines do not stand together, each block beside the lines above it or below it. */
export function placedLoosely(hunks: readonly DiffHunk[], lines: readonly string[], side: Side): IPlacedHunk[] {
  return placedIn(hunks, lines, side).map(one => {
    const blocks = one.blocks ?? looseBlocks(one.hunk, lines, side);
    return { ...one, blocks, isLoose: blocks !== one.blocks };
  });
}

/** The lines of one side of a hunk. */
export function linesOfSide(hunk: DiffHunk, side: Side): string[] {
  return rowsOfSide(hunk, side).map(row => row.text);
}

/**
 * A text that has the old side of hunks, with some of them carried out; null where one of these has no place in it.
 *
 * @param chosen - by position: what is written in the hunk's place; null: what it proposes.
 */
export function textWith(
  hunks: readonly DiffHunk[],
  text: string,
  chosen: ReadonlyMap<number, string | null>
): string | null {
  return linesWith(hunks, text.split('\n'), chosen);
}

/** The same of a cell's source, which has no line where it is empty. */
export function sourceWith(
  hunks: readonly DiffHunk[],
  source: string,
  chosen: ReadonlyMap<number, string | null>
): string | null {
  return linesWith(hunks, source === '' ? [] : source.split('\n'), chosen);
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
    endAs(hunks[position], blocks, lines);
    blocks.reverse().forEach(({ line, count, other }) => lines.splice(line, count, ...other));
  }
  return lines.join('\n');
}

/** What a hunk makes of lines that have its old side, or what the person wrote instead does. */
function blocksToWrite(hunk: DiffHunk, lines: readonly string[], instead: string | null): IBlock[] | null {
  const here = linesOfSide(hunk, 'old');
  const [line, count] = [startOf(here, lines, expectedStart(hunk, 'old')), here.length];
  if (instead === null) {
    return line < 0 ? looseBlocks(hunk, lines, 'old') : [{ line, count, other: linesOfSide(hunk, 'new') }];
  }
  // What is written instead has the lines around it, too: they are the person's, and may be others by now.
  return line < 0 ? null : [{ line, count, other: instead === '' && !hunk.new_count ? [] : instead.split('\n') }];
}

/** Give lines their final newline, or take it, as a hunk does that reaches their end: behind it stands an empty line. */
function endAs(hunk: DiffHunk, blocks: readonly IBlock[], lines: string[]): void {
  const { line, count } = blocks.at(-1)!;
  const end = line + count;
  const [lacked, lacks] = (['old', 'new'] as const).map(side => rowsOfSide(hunk, side).at(-1)?.endsFile ?? false);
  if (lacked && !lacks && end === lines.length) {
    lines.push('');
  } else if (lacks && !lacked && end === lines.length - 1 && lines[end] === '') {
    lines.pop();
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
  const gone = side === 'old' ? 'add' : 'remove';
  const start = startOf(linesOfSide(hunk, side), lines, expectedStart(hunk, side));
  return start < 0 ? null : blocksFrom(start, hunk, gone);
}

/** Each block where it stands below the lines above it, or above those below it, exactly once. */
function looseBlocks(hunk: DiffHunk, lines: readonly string[], side: Side): IBlock[] | null {
  const gone = side === 'old' ? 'add' : 'remove';
  const whole = linesOfSide(hunk, side);
  const blocks = blocksFrom(0, hunk, gone);
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
function blocksFrom(start: number, hunk: DiffHunk, gone: 'add' | 'remove'): IBlock[] {
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
    return lines.length < 2 && !lines[0] ? expected : -1; // What was empty has no place in a text.
  }
  const isAt = (at: number) => wanted.every((line, index) => lines[at + index] === line);
  if (expected <= lines.length && isAt(expected)) {
    return expected;
  }
  const found = lines.flatMap((_, at) => (isAt(at) ? [at] : []));
  return found.length === 1 ? found[0] : -1;
}
