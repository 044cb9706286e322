/** Finds the ranges in which a text differs from another one, so that a caret between them stays. */

/** Offsets of a range in a text, and of the range in the other text that it is to become. */
export interface IChangedRange {
  from: number;
  to: number;
  otherFrom: number;
  otherTo: number;
}

/** Line numbers in both texts. */
type Pair = [at: number, other: number];

/** The ranges that differ, in order; lines that occur once in both texts and keep their order divide them. */
export function changedRanges(text: string, other: string): IChangedRange[] {
  const [lines, others] = [linesOf(text), linesOf(other)];
  const [starts, otherStarts] = [startsOf(lines), startsOf(others)];
  const pairs: Pair[] = [...increasing(samePairs(lines, others)), [lines.length, others.length]];
  const found: IChangedRange[] = [];
  let [from, otherFrom] = [0, 0];
  for (const [at, otherAt] of pairs) {
    const range = { from, to: starts[at], otherFrom, otherTo: otherStarts[otherAt] };
    found.push(...trimmed(text, other, range));
    [from, otherFrom] = [starts[at + 1], otherStarts[otherAt + 1]];
  }
  return found;
}

/** Numbers of items that are equal at the beginning of two sequences, and then at their end. */
export function equalEnds(
  count: number,
  other: number,
  isEqual: (at: number, other: number) => boolean
): [number, number] {
  const most = Math.min(count, other);
  let head = 0;
  while (head < most && isEqual(head, head)) {
    head++;
  }
  let tail = 0;
  while (tail < most - head && isEqual(count - 1 - tail, other - 1 - tail)) {
    tail++;
  }
  return [head, tail];
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** The offsets at which lines start, and the end of the text. */
function startsOf(lines: readonly string[]): number[] {
  const starts = [0];
  lines.forEach((line, at) => starts.push(starts[at] + line.length));
  return starts;
}

/** The pairs of lines that occur exactly once in each text. */
function samePairs(lines: readonly string[], others: readonly string[]): Pair[] {
  const once = (all: readonly string[]): Map<string, number> => {
    const found = new Map<string, number>();
    all.forEach((line, at) => found.set(line, found.has(line) ? -1 : at));
    return found;
  };
  const [here, there] = [once(lines), once(others)];
  return [...here].flatMap(([line, at]): Pair[] => {
    const other = there.get(line) ?? -1;
    return at >= 0 && other >= 0 ? [[at, other]] : [];
  });
}

/** The longest part of the pairs in which the second numbers increase, too. */
function increasing(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = [];
  const before: number[] = [];
  pairs.forEach(([, other], index) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      [low, high] = pairs[ends[middle]][1] < other ? [middle + 1, high] : [low, middle];
    }
    before.push(low ? ends[low - 1] : -1);
    ends[low] = index;
  });
  const found: Pair[] = [];
  for (let index = ends.at(-1) ?? -1; index >= 0; index = before[index]) {
    found.push(pairs[index]);
  }
  return found.reverse();
}

/** A range without the characters that both texts begin or end with in it; none if it does not differ. */
function trimmed(text: string, other: string, range: IChangedRange): IChangedRange[] {
  const { from, to, otherFrom, otherTo } = range;
  const isEqual = (at: number, otherAt: number): boolean => text[from + at] === other[otherFrom + otherAt];
  const [head, tail] = equalEnds(to - from, otherTo - otherFrom, isEqual);
  if (head === to - from && head === otherTo - otherFrom) {
    return [];
  }
  // Yjs cannot split a surrogate pair: it makes both halves U+FFFD.
  const first = head - Number(head > 0 && /[\uD800-\uDBFF]/.test(text.charAt(from + head - 1)));
  const last = tail - Number(tail > 0 && /[\uDC00-\uDFFF]/.test(text.charAt(to - tail)));
  return [{ from: from + first, to: to - last, otherFrom: otherFrom + first, otherTo: otherTo - last }];
}
