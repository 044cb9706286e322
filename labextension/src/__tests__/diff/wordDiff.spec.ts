import * as fc from 'fast-check';

import { changedWords } from '../../diff/wordDiff';

/** The changed words of one line that replaces another. */
function words(before: string, after: string): string[][] {
  const found = changedWords([before], [after]);
  const cut = (line: string, side: { from: number; to: number }[]) => side.map(({ from, to }) => line.slice(from, to));
  return [cut(before, found.removed[0]), cut(after, found.added[0])];
}

describe('changed words', () => {
  it('are whole words', () => {
    expect(words('total = add(price, levy)', 'total = add(price, levies_due)')).toEqual([['levy'], ['levies_due']]);
  });

  it('are single characters where a few only came or went', () => {
    expect(words('total = add(price, tax)', 'total = add(price, taxes)')).toEqual([[], ['es']]);
  });

  it('are found in each line of a longer replacement', () => {
    const found = changedWords(['first = one', 'second = two'], ['first = 1', 'second = two', 'third = three']);
    expect(found.removed).toMatchObject([[{ from: 8, to: 11 }], []]);
    expect(found.added).toMatchObject([[{ from: 8, to: 9 }], [], []]);
  });

  it('are none where the line is another one', () => {
    expect(words('import os', 'x = [y for y in z]')).toEqual([[], []]);
  });

  it('show changed whitespace', () => {
    expect(words('if x:', 'if  x:')).toEqual([[], [' ']]);
    expect(words('\tpass  # why', '    pass  # why')).toEqual([['\t'], ['    ']]);
  });

  it('are not looked for in a replacement too large to read word by word', () => {
    const long = 'a '.repeat(20_000);
    expect(words(`${long}b`, `${long}c`)).toEqual([[], []]);
  });

  it('lie within their lines, and what is left of both sides is the same', () => {
    const line = fc.stringOf(fc.constantFrom('a', 'b', ' ', '(', '\t', '😀'), { maxLength: 12 });
    const lines = fc.array(line, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lines, lines, (removed, added) => {
        const found = changedWords(removed, added);
        expect([found.removed.length, found.added.length]).toEqual([removed.length, added.length]);
        [...found.removed.entries()].forEach(([at, ranges]) => {
          ranges.forEach(({ from, to }) => expect(0 <= from && from < to && to <= removed[at].length).toBe(true));
        });
      })
    );
  });
});
