/** Compares two sequences from both ends. */

/** Numbers of items that are equal at the beginning of two sequences, and then at their end. */
export function equalEnds(
  count: number,
  other: number,
  isEqual: (at: number, other: number) => boolean
): [head: number, tail: number] {
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
