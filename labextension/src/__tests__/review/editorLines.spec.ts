import { diffInEditor, inEditor } from '../../review/editorLines';
import { placed, textWith } from '../../review/placedHunks';
import { fileDiff, hunk } from '../diffSamples';

const NONE = '\n\\ No newline at end of file';

/** The hunk of a change by the lines of an editor. */
function shown(old: string[], now: string[]) {
  return diffInEditor(fileDiff({ hunks: [hunk([...old.map(row => `-${row}`), ...now.map(row => `+${row}`)])] }))
    .hunks[0];
}

describe('a hunk of a text whose lines end in a carriage return', () => {
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at}`);
  const other = lines.map(line => (line === 'line 5' ? 'LINE 5' : line));
  const change = shown([`${lines.join('\r')}\r${NONE}`], [`${other.join('\r')}\r${NONE}`]);

  it('has the lines of an editor around its change', () => {
    expect(change.rows.map(({ kind, text }) => [kind, text])).toEqual([
      ...lines.slice(2, 5).map(line => ['context', line]),
      ['remove', 'line 5'],
      ['add', 'LINE 5'],
      ...lines.slice(6, 9).map(line => ['context', line])
    ]);
    expect(change).toMatchObject({ old_start: 3, old_count: 7, new_start: 3, new_count: 7 });
    expect(change.rows[3]).toMatchObject({ old: 6, new: 0 });
  });

  it('has its place in an editor, and is written there', () => {
    const text = inEditor(lines.map(line => `${line}\r`).join(''));
    expect(placed([change], text, 'old')[0].blocks).toEqual([{ line: 5, count: 1, other: ['LINE 5'] }]);
    expect(textWith([change], text, new Map([[0, null]]))).toBe(`${other.join('\n')}\n`);
  });

  it.each([
    ['a line is added at the end', ['a\rb' + NONE], ['a\rb\rc' + NONE]],
    ['a line is removed at the beginning', ['a\rb' + NONE], ['b' + NONE]],
    ['the last ending goes', [`a\rb\r${NONE}`], [`a\rb${NONE}`]],
    ['a line feed comes at the end', [`a\rb${NONE}`], ['a\rb']],
    ['only endings differ', ['a\rb'], ['a', 'b']],
    ['a line without an ending becomes two', ['a\rx\rb'], ['a\ry\rz\rb']]
  ])('is written where %s', (_, old, now) => {
    const text = (rows: string[]) =>
      inEditor(rows.map(row => (row.endsWith(NONE) ? row.slice(0, -NONE.length) : `${row}\n`)).join(''));
    expect(textWith([shown(old, now)], text(old), new Map([[0, null]]))).toBe(text(now));
  });

  it('is left as it is where no line has one', () => {
    const diff = fileDiff({ hunks: [hunk([' a', '-b', '+B'])] });
    expect(diffInEditor(diff)).toEqual(diff);
  });
});
