import fc from 'fast-check';

import type { Span } from '../../documents/messages';

import { located } from '../../documents/located';

const CONTEXT = 64;

/** A span with the text around it, as the server sends it. */
function spanOf(text: string, at: number, removed: string, inserted: string): Span {
  const end = at + removed.length;
  return [at, removed, inserted, text.slice(Math.max(0, at - CONTEXT), at), text.slice(end, end + CONTEXT)];
}

describe('a span in a text in which a person types', () => {
  const lines = fc.array(fc.stringMatching(/^[ab]{0,3}$/), { minLength: 3, maxLength: 12 });

  it('is found though they type in the line above or below, and refused where they type in its own', () => {
    fc.assert(
      fc.property(
        lines,
        fc.nat(),
        fc.nat(),
        fc.stringMatching(/^[ab\n]{0,9}$/),
        fc.nat(9),
        (some, one, other, typed, cut) => {
          const named = some.map((line, at) => `${line}<${at}>\n`);
          const text = named.join('');
          const line = one % named.length;
          const at = text.indexOf(`<${line}>`);
          const span = spanOf(text, at, `<${line}>`, '!');
          const from = other % (text.length + 1);
          const end = Math.min(text.length, from + cut);
          const now = text.slice(0, from) + typed + text.slice(end);
          const start = named.slice(0, line).join('').length;
          const isBefore = end <= start && now.slice(0, start + now.length - text.length).endsWith('\n');
          const isBehind = from >= start + named[line].length;
          if (isBefore || isBehind) {
            expect(located(now, [span], text.length)[0][0]).toBe(isBehind ? at : at + now.length - text.length);
          } else {
            let found = null;
            try {
              found = located(now, [span], text.length)[0][0];
            } catch {
              return;
            }
            // The line stands there again, as what they typed is like what they removed.
            expect(now.slice(now.lastIndexOf('\n', found - 1) + 1).startsWith(named[line])).toBe(true);
          }
        }
      )
    );
  });

  it.each([
    ['the line is typed in', 'a\nxb = 1\nc\n', 'text'],
    ['nothing is known of the text before', 'typed\nb = 1\nc\n', 'text', undefined]
  ])('is refused where %s', (_, now, reason, length: number | undefined = 'a\nb = 1\nc\n'.length) => {
    const span = spanOf('a\nb = 1\nc\n', 6, '1', '2');
    expect(() => located(now, [span], now.startsWith('typed') ? undefined : length)).toThrow(reason);
  });

  it('is a new line between the line above, in which they type, and the one below', () => {
    const text = 'a\nb\n';
    const span = spanOf(text, 2, '', 'new\n');
    expect(located('a typed\nb\n', [span], text.length)[0][0]).toBe(8);
    expect(located('a\nb typed\n', [span], text.length)[0][0]).toBe(2);
  });
});
