/** Finds the places of a change in a text in which a person may have typed meanwhile. */

import type { Reason, Span } from './messages';

/** Thrown when a change is refused; nothing was changed. */
export class Refused extends Error {
  constructor(readonly reason: Reason) {
    super(reason);
  }
}

/**
 * The spans at their current offsets in a text.
 *
 * @param length - that of the text to which the offsets belong, if known: a person who has typed in one place, however
 *   close to a span, has moved all that follows by the difference.
 */
export function located(source: string, spans: readonly Span[], length?: number): Span[] {
  let end = 0;
  return spans.map(span => {
    const [, removed, inserted, before, after] = span;
    const close = length === undefined ? null : placeBeside(source, span, source.length - length);
    const at = close ?? placeOf(source, span);
    if (at < end) {
      throw new Refused('text');
    }
    end = at + removed.length;
    return [at, removed, inserted, before, after];
  });
}

/** The place of a span whose own lines, and the text on one side of them, are as they were; else null. */
function placeBeside(source: string, [offset, removed, , before, after]: Span, moved: number): number | null {
  const ownBefore = before.slice(Math.max(0, before.lastIndexOf('\n')));
  const isFirstLine = ownBefore.length === offset && ownBefore[0] !== '\n';
  const isWhole = /^\n?$/.test(ownBefore) && (removed === '' || removed.endsWith('\n'));
  const ownAfter = isWhole ? '' : after.slice(0, after.indexOf('\n') + 1 || undefined);
  for (const at of [offset, offset + moved]) {
    for (const [left, right] of [
      [before, ownAfter],
      [ownBefore, after]
    ]) {
      const expected = left + removed + right;
      const isThere = expected !== '' && source.startsWith(expected, at - left.length);
      if (isThere && (at === left.length || !isFirstLine)) {
        return at;
      }
    }
  }
  return null;
}

/** The place of a span with all the text that is expected around it. */
function placeOf(source: string, [offset, removed, , before, after]: Span): number {
  const expected = before + removed + after;
  // A span with no expected text around it only fits an empty text.
  if (expected === '' && source !== '') {
    throw new Refused('text');
  }
  let start = offset - before.length;
  if (source.slice(start, start + expected.length) !== expected) {
    start = source.indexOf(expected);
    if (start < 0 || source.indexOf(expected, start + 1) >= 0) {
      throw new Refused('text');
    }
  }
  return start + before.length;
}
