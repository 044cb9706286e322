import { editsBack, linesOfSource, placed, placedLoosely, sourceWith, textWith } from '../../review/placedHunks';
import { hunk } from '../diffSamples';

const NONE = '\n\\ No newline at end of file';

/** The text after all hunks of a change are put back; null where one has no place. */
function putBack(change: ReturnType<typeof hunk>[], text: string, lines = text.split('\n')): string | null {
  const edits = editsBack(change, lines, new Set(change.keys()));
  return (
    edits && edits.reduceRight((done, { from, to, insert }) => done.slice(0, from) + insert + done.slice(to), text)
  );
}

const LINES = ['a', 'b', 'c', 'd', 'e'];

describe('a hunk in a text', () => {
  const change = hunk([' b', '-c', '+C', '+CC', ' d'], 2, 2);

  it('stands where it was made', () => {
    expect(placed([change], LINES.join('\n'), 'old')[0].blocks).toEqual([{ line: 2, count: 1, other: ['C', 'CC'] }]);
  });

  it('moves along with lines above it', () => {
    expect(placed([change], ['new', ...LINES].join('\n'), 'old')[0].blocks).toMatchObject([{ line: 3 }]);
  });

  it('stands at its new lines once it is made', () => {
    const made = ['a', 'b', 'C', 'CC', 'd', 'e'].join('\n');
    expect(placed([change], made, 'new')[0].blocks).toEqual([{ line: 2, count: 2, other: ['c'] }]);
  });

  it.each([
    ['its lines are others', ['a', 'b', 'x', 'd']],
    ['its lines stand twice', ['x', 'y', 'b', 'c', 'd', 'b', 'c', 'd']]
  ])('has no place where %s', (_, lines) => {
    expect(placed([change], lines.join('\n'), 'old')[0].blocks).toBeNull();
  });

  it('has a place at the end of a file without a last newline', () => {
    const end = hunk([' a', '-b\n\\ No newline at end of file', '+B\n\\ No newline at end of file']);
    expect(placed([end], 'a\nb', 'old')[0].blocks).toEqual([{ line: 1, count: 1, other: ['B'] }]);
  });

  it.each([
    ['above', ['a', 'B', 'c', 'd'], 2],
    ['below', ['new', 'a', 'b', 'c', 'D'], 3]
  ])('keeps its place, loosely, where the person types %s it', (_, lines, line) => {
    const [found] = placedLoosely([change], lines, 'old');
    expect(found).toMatchObject({ isLoose: true, blocks: [{ line, count: 1, other: ['C', 'CC'] }] });
    const wanted = lines.flatMap(text => (text === 'c' ? ['C', 'CC'] : [text]));
    expect(textWith([change], lines.join('\n'), new Map([[0, null]]))).toBe(wanted.join('\n'));
    // The person's own text includes the old lines around it, so it has no place.
    expect(textWith([change], lines.join('\n'), new Map([[0, 'mine']]))).toBeNull();
  });

  it('has no loose place where the person types above and below it, or in it', () => {
    for (const lines of [
      ['B', 'c', 'D'],
      ['b', 'x', 'd']
    ]) {
      expect(placedLoosely([change], lines, 'old')[0].blocks).toBeNull();
      expect(textWith([change], lines.join('\n'), new Map([[0, null]]))).toBeNull();
    }
  });

  it('is carried out as proposed or as the person wrote it, the others stay', () => {
    const other = hunk(['-e', '+E'], 5, 5);
    const text = `${LINES.join('\n')}\n`;
    expect(textWith([change, other], text, new Map([[0, null]]))).toBe('a\nb\nC\nCC\nd\ne\n');
    expect(textWith([change, other], text, new Map([[1, 'mine\nand more']]))).toBe('a\nb\nc\nd\nmine\nand more\n');
    expect(textWith([hunk(['-e'], 5, 4)], text, new Map([[0, null]]))).toBe('a\nb\nc\nd\n');
  });
});

describe('the final newline', () => {
  const first = hunk([' a', '-b', '+B', ' c']);
  const added = hunk([`-d${NONE}`, '+d'], 4);
  const removed = hunk(['-d', `+d${NONE}`], 4);

  it.each([
    ['comes with a hunk as it proposes', added, 'a\nb\nc\nd', 'a\nmine\nc\nd\n'],
    ['goes with a hunk as it proposes', removed, 'a\nb\nc\nd\n', 'a\nmine\nc\nd'],
    ['goes with the last line', hunk([' c', '-d', `+c2${NONE}`], 3), 'a\nb\nc\nd\n', 'a\nmine\nc\nc2'],
    ['comes where the line without it goes', hunk([' c', `-d${NONE}`], 3), 'a\nb\nc\nd', 'a\nmine\nc\n'],
    ['stays where the person wrote it already', added, 'a\nb\nc\nd\n', 'a\nmine\nc\nd\n'],
    ['stays in front of what the person wrote', added, 'a\nb\nc\nd\ne', 'a\nmine\nc\nd\ne']
  ])('%s, beside an edited hunk', (_, last, text, wanted) => {
    const chosen = new Map([
      [0, 'a\nmine\nc'],
      [1, null]
    ]);
    expect(textWith([first, last], text, chosen)).toBe(wanted);
  });

  it('is that of the proposal where the person edits its last lines', () => {
    expect(textWith([first, removed], 'a\nb\nc\nd\n', new Map([[1, 'D']]))).toBe('a\nb\nc\nD');
    expect(textWith([first, removed], 'a\nb\nc\nd\n', new Map([[0, 'a\nB\nc']]))).toBe('a\nB\nc\nd\n');
  });

  it('comes and goes where the person types above the hunk', () => {
    const loose = hunk([' c', `-d${NONE}`, '+d'], 3);
    expect(textWith([loose], 'x\nd', new Map([[0, null]]))).toBe('x\nd\n');
  });

  it('is not given to a text that begins without one', () => {
    expect(textWith([hunk([`+x${NONE}`])], '', new Map([[0, 'y']]))).toBe('y');
    expect(textWith([hunk(['+x'])], '', new Map([[0, 'y']]))).toBe('y\n');
  });
});

describe('what was there before is put back', () => {
  it.each([
    ['in its place', [hunk([' a', '-b', '+B', ' c'])], 'x\na\nB\nc\n', 'x\na\nb\nc\n'],
    ['at the end', [hunk([' a', '-b'])], 'a\n', 'a\nb\n'],
    ['behind a line whose ending the person took', [hunk([' a', '-b'])], 'a', 'a\nb'],
    ['with its final newline', [hunk([' a', '-b', `+B${NONE}`])], 'a\nB', 'a\nb\n'],
    ['without a second final newline', [hunk([' a', '-b', `+B${NONE}`])], 'a\nB\n', 'a\nb\n'],
    ['without the final newline that came', [hunk([' a', `-b${NONE}`, '+b'])], 'a\nb\n', 'a\nb'],
    ['before what the person wrote below', [hunk([' a', `-b${NONE}`, '+b'])], 'a\nb\nc\n', 'a\nb\nc\n'],
    ['in an empty text', [hunk(['-a'])], '', 'a\n'],
    ['in an empty text, without a final newline', [hunk([`-a${NONE}`])], '', 'a'],
    ['where nothing was', [hunk([`+a${NONE}`])], 'a', ''],
    ['where the lines between are gone', [hunk([' a', '-b', '+B', ' x', '-c', '+C'])], 'a\nB\nC', 'a\nb\nc']
  ])('%s', (_, change, text, wanted) => {
    expect(putBack(change, text)).toBe(wanted);
  });

  it('in cells, which have no final newline', () => {
    expect(putBack([hunk(['-x'])], '', linesOfSource(''))).toBe('x');
    expect(putBack([hunk(['+x'])], 'x', linesOfSource('x'))).toBe('');
    expect(putBack([hunk([' x', '-y', '-'])], 'x')).toBe('x\ny\n');
    expect(putBack([hunk([' x', '+y', '+'])], 'x\ny\n')).toBe('x');
  });

  it('not at all where one of the hunks has no place', () => {
    expect(putBack([hunk(['-a', '+A']), hunk(['-c', '+C'], 3)], 'A\nb\nmine\n')).toBeNull();
  });
});

it('an empty cell gets what the person wrote, and no line behind it', () => {
  expect(sourceWith([hunk(['+x'])], '', new Map([[0, 'y']]))).toBe('y');
  expect(sourceWith([hunk(['-x', '+y'])], 'x', new Map([[0, 'z']]))).toBe('z');
});
