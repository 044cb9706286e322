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
            expect(`${now}\n`.slice(now.lastIndexOf('\n', found - 1) + 1).startsWith(named[line])).toBe(true);
          }
        }
      )
    );
  });

  it('is never found in a line in which they type, wherever else they type, also in the first and the last one', () => {
    const place = fc.tuple(fc.nat(), fc.nat(9), fc.stringMatching(/^[abx}\n]{0,6}$/));
    const repeated = fc.array(fc.constantFrom('', '}', 'x', 'x = 1', 'y'.repeat(40)), { minLength: 1, maxLength: 14 });
    const inserted = fc.constantFrom('', 'q', 'q\n', '\nq', '\n');
    fc.assert(
      fc.property(
        repeated,
        fc.constantFrom('', '\n'),
        fc.nat(),
        fc.nat(20),
        inserted,
        fc.array(place, { maxLength: 2 }),
        (some, final, offset, size, text, typed) => {
          const before = some.join('\n') + final;
          const at = offset % (before.length + 1);
          const removed = before.slice(at, at + size);
          let now = before;
          for (const [where, cut, characters] of typed) {
            const from = where % (now.length + 1);
            now = now.slice(0, from) + characters + now.slice(from + cut);
          }
          let found = 0;
          try {
            [[found]] = located(now, [spanOf(before, at, removed, text)], before.length);
          } catch {
            return;
          }
          expect(now.slice(found, found + removed.length)).toBe(removed);
          const start = before.slice(0, at).lastIndexOf('\n') + 1;
          const isWhole = at === start && [removed, text].every(one => one === '' || one.endsWith('\n'));
          const lines = before.slice(start).split('\n');
          const own = lines.slice(0, before.slice(start, at + removed.length).split('\n').length - Number(isWhole));
          expect(
            now
              .slice(0, found - at + start)
              .split('\n')
              .pop()
          ).toBe('');
          expect(
            now
              .slice(found - at + start)
              .split('\n')
              .slice(0, own.length)
          ).toEqual(own);
        }
      ),
      { numRuns: 1000 }
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

  const text = 'a\nb\n';

  it.each([
    ['before the first line', 'ab = 1\nc\n', 'b = 1\nc\n', 4, '1', '2'],
    ['behind a last line without an end', 'a\nb = 123', 'a\nb = 1', 6, '1', '2'],
    ['in a line that gets its first word', text.replace('b', 'xb'), text, 2, '', 'new '],
    ['in a line that is joined to the removed one', text.replace('b', 'xb'), text, 0, 'a\n', 'new '],
    ['over the last newline, at which lines are put', 'a\nb', text, 4, '', 'new\n']
  ])('is refused where they type %s', (_, now, before, at, removed, inserted) => {
    expect(() => located(now, [spanOf(before, at, removed, inserted)], before.length)).toThrow('text');
  });

  it('is, where the length of the text is not told, with all that is expected around it', () => {
    const line = `${'-'.repeat(CONTEXT)}x${'-'.repeat(CONTEXT)}`;
    const [one, two] = [0, line.length].map(at => spanOf(line + line, at + CONTEXT, 'x', 'y'));
    expect(located(line + line, [one, two]).map(([at]) => at)).toEqual([CONTEXT, line.length + CONTEXT]);
    expect(located(`z${line}`, [one])[0][0]).toBe(CONTEXT + 1);
    expect(() => located(line.replace('x', ''), [one])).toThrow('text');
    expect(() => located(`z${line}${line}`, [one])).toThrow('text');
  });

  it('is at the end of the text though the line that they type ends where the text ended', () => {
    expect(located('a\nq\nb\n', [spanOf(text, 4, '', 'new\n')], text.length)[0][0]).toBe(6);
  });
});
