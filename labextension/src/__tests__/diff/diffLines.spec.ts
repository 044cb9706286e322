import * as fc from 'fast-check';

import { isCode, linesOf, replacementsIn, sidesOf } from '../../diff/diffLines';
import { hunk } from '../diffSamples';

const NO_NEWLINE = '\n\\ No newline at end of file';

describe('the lines of a diff', () => {
  it('are the rows of its hunks with folds between', () => {
    const lines = linesOf([hunk([' a', '-b', '+c'], 4), hunk(['+d'], 10)], false);
    expect(lines.map(line => (isCode(line) ? line.text : line))).toEqual([
      { kind: 'fold', count: 3, unchanged: true },
      'a',
      'b',
      'c',
      { kind: 'fold', count: 4, unchanged: true },
      'd'
    ]);
  });

  it('of a file that is new or gone have no fold', () => {
    expect(linesOf([hunk(['+a', '+b'])], false).every(isCode)).toBe(true);
    expect(linesOf([hunk(['-a', '-b'])], false).every(isCode)).toBe(true);
  });

  it('of a cut diff claim nothing of what is left out', () => {
    expect(linesOf([hunk(['-b'], 3)], true)[0]).toEqual({ kind: 'fold', count: 2, unchanged: false });
  });

  it('tell where the final newline was lost', () => {
    const lines = linesOf([hunk(['-a', `+a${NO_NEWLINE}`])], false);
    expect(lines).toMatchObject([
      { text: 'a', endsFile: false },
      { text: 'a', endsFile: true }
    ]);
  });

  it('tell line endings only where both kinds occur', () => {
    const endings = (rows: string[]) => linesOf([hunk(rows)], false).map(line => isCode(line) && line.ending);
    expect(endings([' a\r', '-b\r', '+c\r'])).toEqual(['', '', '']);
    expect(endings([' a\r', '-b\r', '+b'])).toEqual(['', 'CRLF', 'LF']);
    expect(endings([' a\r', '-b\r', `+b${NO_NEWLINE}`])).toEqual(['', '', '']);
  });
});

describe('any rows', () => {
  const signs = fc.array(fc.constantFrom(' a', '-b', '+c', '-', '+\t<b>'), { minLength: 1, maxLength: 30 });

  it('keep their texts and their order', () => {
    fc.assert(
      fc.property(signs, fc.integer({ min: 1, max: 99 }), (rows, start) => {
        const texts = linesOf([hunk(rows, start)], false).flatMap(line => (isCode(line) ? [line.text] : []));
        expect(texts).toEqual(rows.map(row => row.slice(1)));
      })
    );
  });

  it('are all on one of the sides, and only replacements on both', () => {
    fc.assert(
      fc.property(signs, rows => {
        const lines = linesOf([hunk(rows)], false);
        const changed = lines.flatMap((line, index) => (line.kind === 'add' || line.kind === 'remove' ? [index] : []));
        const sides = sidesOf(lines).flat();
        expect(changed.every(index => sides.filter(at => at === index).length === 1)).toBe(true);
        const replaced = replacementsIn(lines).flatMap(({ removed, added }) => [...removed, ...added]);
        expect(new Set(replaced).size).toBe(replaced.length);
        expect(replaced.every(index => changed.includes(index))).toBe(true);
      })
    );
  });
});

describe('replacements', () => {
  const found = (rows: string[]) => replacementsIn(linesOf([hunk(rows)], false));

  it('are removed lines with the added lines that follow them', () => {
    expect(found([' a', '-b', '-c', '+d', ' e', '-f', '+g', '+h'])).toEqual([
      { removed: [1, 2], added: [3] },
      { removed: [5], added: [6, 7] }
    ]);
  });

  it('end where the next removed line begins', () => {
    expect(found(['-a', '+b', '-c', '+d'])).toHaveLength(2);
  });

  it('are not lines that are only added or only removed', () => {
    expect(found(['-a', ' b', '+c'])).toEqual([]);
  });
});

describe('sides', () => {
  it('are the lines before and after each hunk', () => {
    const lines = linesOf([hunk([' a', '-b', '+c']), hunk(['+d', ' e'], 4)], false);
    const texts = sidesOf(lines).map(side => side.map(index => isCode(lines[index]) && lines[index].text));
    expect(texts).toEqual([
      ['a', 'b'],
      ['a', 'c'],
      ['d', 'e']
    ]);
  });
});
