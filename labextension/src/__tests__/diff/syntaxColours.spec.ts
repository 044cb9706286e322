import { Pace } from '../../diff/pace';
import { coloursOf, parserOf } from '../../diff/syntaxColours';
import { diffParts } from '../diffSamples';

const { languages } = diffParts();

async function coloured(lines: string[]): Promise<string[][]> {
  const parser = await parserOf(languages, { path: 'a.py' });
  const colours = await coloursOf(parser!, lines, new Pace());
  return colours.map((ranges, at) => ranges.map(({ from, to }) => lines[at].slice(from, to)));
}

describe('the language', () => {
  it.each([
    [{ path: 'folder/a.py' }, true],
    [{ path: 'Dockerfile' }, true],
    [{ name: 'R' }, true],
    [{ name: 'markdown' }, false],
    [{ name: 'unknown' }, false],
    [{ name: '' }, false],
    [{ path: 'a.nothing' }, false]
  ])('of %j is known: %j', async (named, known) => {
    expect((await parserOf(languages, named)) !== null).toBe(known);
  });
});

describe('colours', () => {
  it('lie on the words of each line', async () => {
    expect(await coloured(['import os', '', '# why'])).toEqual([['import'], [], ['# why']]);
  });

  it('run on in what spans lines, however long the text is', async () => {
    const inside = Array.from({ length: 3000 }, (_, at) => `text ${at} if x`);
    const found = await coloured(['x = """', ...inside, '"""', 'pass']);
    expect(found.slice(1, -2).map(words => words.join(''))).toEqual(inside);
    expect(found.at(-1)).toEqual(['pass']);
  });

  it('are left out where the text is too long', async () => {
    expect((await coloured([`x = "${'a'.repeat(1_000_000)}"`])).flat()).toEqual([]);
  });
});
