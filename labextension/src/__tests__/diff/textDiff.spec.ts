import type { DiffHunk } from '../../payloads';
import { parserOf } from '../../diff/syntaxColours';
import { type ITextDiffOptions, TextDiff } from '../../diff/textDiff';
import { diffParts, hunk, shownLines, until } from '../diffSamples';

const { languages, trans } = diffParts();

function textDiff(hunks: DiffHunk[], options: Partial<ITextDiffOptions> = {}): TextDiff {
  return new TextDiff({ hunks, truncated: false, name: 'Lines', loadParser: async () => null, trans, ...options });
}

/** A hunk of `count` added lines. */
function addedLines(count: number): DiffHunk {
  return hunk(Array.from({ length: count }, (_, at) => `+line ${at + 1}`));
}

function all(diff: TextDiff, selector: string): HTMLElement[] {
  return Array.from(diff.node.querySelectorAll<HTMLElement>(selector));
}

describe('the diff of a text', () => {
  it('shows each line with its numbers and its sign', () => {
    const diff = textDiff([hunk([' a', '-b', '+c'], 7, 9)]);
    expect(shownLines(diff.node)).toEqual(['a', 'b', 'c']);
    expect(all(diff, '.jp-fstools-Diff-code').map(code => code.dataset.sign)).toEqual(['', '−', '+']);
    expect(all(diff, '.jp-fstools-Diff-gutter').map(({ dataset }) => [dataset.old, dataset.new])).toEqual([
      ['7', '9'],
      ['8', ''],
      ['', '10']
    ]);
  });

  it('says to a screen reader what each line is', () => {
    const diff = textDiff([hunk([' a', '-b', '+c'], 7, 9)]);
    expect(all(diff, '[role=table]').map(table => table.getAttribute('aria-label'))).toEqual(['Lines']);
    expect(all(diff, '[role=row] > [role=rowheader]').map(header => header.textContent)).toEqual([
      'line 9',
      'removed line 8',
      'added line 10'
    ]);
  });

  it('folds what is the same', () => {
    const diff = textDiff([hunk(['-a', '+b'], 2), hunk(['-c'], 1235)]);
    expect(all(diff, '.jp-fstools-Diff-fold').map(fold => fold.textContent)).toEqual([
      '… 1 unchanged line',
      `… ${(1232).toLocaleString()} unchanged lines`
    ]);
  });

  it('marks the words that changed', () => {
    const diff = textDiff([hunk(['-price = levy', '+price = levies_due'])]);
    expect(all(diff, '.jp-fstools-Diff-word').map(word => word.textContent)).toEqual(['levy', 'levies_due']);
  });

  it('marks a changed line ending and a lost final newline', () => {
    const diff = textDiff([hunk(['-a\r', '+a', '-b', '+b\n\\ No newline at end of file'])]);
    const marks = all(diff, '.jp-fstools-Diff-code').map(code => code.dataset.mark);
    expect(marks).toEqual(['CRLF', 'LF', 'LF', 'no newline at end of file']);
    expect(shownLines(diff.node)).toEqual(['a', 'a', 'b', 'b']);
  });

  it('shows hostile lines as text', () => {
    const diff = textDiff([hunk(['+<img src=x onerror=alert(1)>'])], { name: '"><b>' });
    expect(diff.node.querySelector('img, b')).toBeNull();
  });
});

describe('a long diff', () => {
  it('shows the first lines and offers all of them', () => {
    const diff = textDiff([addedLines(1234)]);
    expect(shownLines(diff.node)).toHaveLength(400);
    expect(all(diff, 'button').map(button => button.textContent)).toEqual([
      `Show all (${(1234).toLocaleString()} lines)`
    ]);
  });

  it('shows the rest without touching what is there, and then offers nothing', async () => {
    const diff = textDiff([addedLines(1234)]);
    const before = all(diff, '.jp-fstools-Diff-row');
    all(diff, 'button')[0].click();
    await until(() => !all(diff, 'button').length);
    expect(shownLines(diff.node)).toEqual(Array.from({ length: 1234 }, (_, at) => `line ${at + 1}`));
    expect(all(diff, '.jp-fstools-Diff-row').slice(0, 400)).toEqual(before);
    expect(all(diff, '.jp-fstools-Diff-group').map(group => group.childElementCount)).toEqual([
      ...Array(12).fill(100),
      34
    ]);
  });

  it('stops when it is closed', async () => {
    const diff = textDiff([addedLines(5000)]);
    const shown = diff.showAll();
    diff.dispose();
    await shown;
    expect(shownLines(diff.node).length).toBeLessThan(5000);
  });

  it('offers nothing where all is shown', () => {
    expect(all(textDiff([addedLines(400)]), 'button')).toEqual([]);
  });
});

describe('colours', () => {
  const python = () => parserOf(languages, { path: 'a.py' });

  it('are those of the language, also across lines and in lines shown later', async () => {
    const diff = textDiff([hunk(['+x = """', '+text', '+"""', '+import os'])], { loadParser: python, rowsAtFirst: 2 });
    const colours = () =>
      all(diff, '.jp-fstools-Diff-code').map(code => code.querySelector('span:last-of-type')?.className);
    await until(() => colours().length === 2 && colours().every(Boolean));
    await diff.showAll();
    await until(() => colours().length === 4 && colours().every(Boolean));
    expect(colours()[1]).toBe(colours()[0]);
    expect(colours()[3]).not.toBe(colours()[0]);
    expect(shownLines(diff.node)).toEqual(['x = """', 'text', '"""', 'import os']);
  });

  it('of the lines before do not run into the lines after', async () => {
    const diff = textDiff([hunk(['-"""', '+import os', ' import re'])], { loadParser: python });
    await until(() => all(diff, '.jp-fstools-Diff-code span').length > 2);
    const keywords = all(diff, '.jp-fstools-Diff-code').map(code => code.querySelector('span')?.className);
    expect(keywords[1]).toBe(keywords[2]);
  });

  it('are none where the language is unknown or cannot be loaded', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation();
    expect(await parserOf(languages, { path: 'a.unknown' })).toBeNull();
    expect(await parserOf(languages, { name: 'unknown' })).toBeNull();
    const diff = textDiff([hunk(['+a'])], { loadParser: () => Promise.reject(new Error('offline')) });
    await until(() => warn.mock.calls.length > 0);
    expect(shownLines(diff.node)).toEqual(['a']);
    warn.mockRestore();
  });
});
