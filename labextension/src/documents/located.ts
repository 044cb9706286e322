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
  // Newlines around the text make its first and last line like any other.
  const text = length === undefined ? source : `\n${source}\n`;
  let end = 0;
  return spans.map(span => {
    const [, removed, inserted, before, after] = span;
    const at = length === undefined ? placeOf(text, span) : placeBeside(text, span, length);
    if (at < end) {
      throw new Refused('text');
    }
    end = at + removed.length;
    return [at, removed, inserted, before, after];
  });
}

/** The place of a span with all the text that is expected around it. */
function placeOf(source: string, [offset, removed, , before, after]: Span): number {
  // A span with no expected text around it only fits an empty text.
  if (before + removed + after === '' && source !== '') {
    throw new Refused('text');
  }
  return firstPlace(source, [[offset, before, removed + after]], before, removed + after);
}

/** The place of a span in a text between two newlines: its own lines, and the text on one side, are as they were. */
function placeBeside(text: string, [offset, removed, inserted, before, after]: Span, length: number): number {
  const size = text.length - 2;
  if (before + removed + after === '' && size) {
    throw new Refused('text');
  }
  const above = before.length === offset ? `\n${before}` : before;
  const below = offset + removed.length + after.length === length ? `${after}\n` : after;
  const ownAbove = above.slice(Math.max(0, above.lastIndexOf('\n')));
  const isWhole = ownAbove === '\n' && [removed, inserted].every(one => one === '' || one.endsWith('\n'));
  const ownBelow = isWhole ? '' : below.slice(0, below.indexOf('\n') + 1 || undefined);
  const at = offset + 1;
  const tried: Tried[] = [
    [at, above, removed + ownBelow],
    [at + size - length, ownAbove, removed + below]
  ];
  const place = firstPlace(text, tried, above, removed + below) - 1;
  if (place + removed.length > size) {
    throw new Refused('text');
  }
  return place;
}

/** A place, and the text before and behind it if it is the right one. */
type Tried = [number, string, string];

/** The first right place of those tried; if none is, the only one with all the expected text around it. */
function firstPlace(text: string, tried: readonly Tried[], before: string, behind: string): number {
  for (const [at, left, right] of tried) {
    if (at >= left.length && text.startsWith(left + right, at - left.length)) {
      return at;
    }
  }
  const expected = before + behind;
  const start = text.indexOf(expected);
  if (start < 0 || text.indexOf(expected, start + 1) >= 0) {
    throw new Refused('text');
  }
  return start + before.length;
}
