import { createDiffView } from '../../diff/diffView';
import type { CellDiff, FileDiff } from '../../payloads';
import { cellDiff, diffParts, fileDiff, hunk, shownLines, until } from '../diffSamples';

const parts = diffParts();

function view(facts: Partial<FileDiff>): HTMLElement {
  return createDiffView(fileDiff(facts), parts).node;
}

function notebook(cells: Partial<CellDiff>[], facts: Partial<FileDiff> = {}): HTMLElement {
  return view({ kind: 'notebook', path: 'a.ipynb', cells: cells.map(cellDiff), language: 'python', ...facts });
}

function texts(node: HTMLElement, selector: string): (string | null)[] {
  return Array.from(node.querySelectorAll(selector), found => found.textContent);
}

describe('a view of a diff', () => {
  it('shows the lines of a text', () => {
    expect(shownLines(view({ hunks: [hunk(['-a', '+b'])] }))).toEqual(['a', 'b']);
  });

  it.each([
    [{ op: 'create' }, 'The new file is empty.'],
    [{ op: 'delete' }, 'The deleted file was empty.'],
    [{ op: 'edit' }, 'No line changed; the encoding did.'],
    [{ kind: 'notebook', cells: [] }, 'No cell changed; the change is outside the cells.']
  ] as [Partial<FileDiff>, string][])('says why there is nothing to see: %j', (facts, said) => {
    expect(view(facts).textContent).toBe(said);
  });

  it('says that a diff is cut, and how much changed in all', () => {
    const shown = view({ hunks: [hunk(['-a', '+b'])], truncated: true, added: 5000, removed: 2 });
    expect(texts(shown, '.jp-fstools-Diff-note')).toEqual([
      `Not all of it is shown here: in all, ${(5000).toLocaleString()} lines are added and 2 removed.`
    ]);
  });

  it('shows a command in the colours of the shell', async () => {
    const shown = view({ kind: 'command', op: 'execute', path: '.', hunks: [hunk(['+if true; then ls; fi'])] });
    await until(() => shown.querySelector('.jp-fstools-Diff-code span') !== null);
    expect(texts(shown, '.jp-fstools-Diff-code span')[0]).toBe('if');
    expect(shown.querySelector('[role=table]')?.getAttribute('aria-label')).toBe('Command to run');
  });

  it('shows hostile names as text', () => {
    const path = '<img src=x onerror=alert(1)>.py';
    const shown = view({ path, hunks: [hunk(['+a'])] });
    expect(shown.querySelector('img')).toBeNull();
    expect(shown.querySelector('[role=table]')?.getAttribute('aria-label')).toBe(`Changed lines of ${path}`);
  });
});

describe('a view of a notebook', () => {
  it('shows what comes with cells and around them as text', () => {
    const carried = [hunk(['+"outputs": ["<img src=x onerror=alert(1)>"]'])];
    const hunks = [hunk(['+"kernelspec": "evil"'])];
    const shown = view({ kind: 'notebook', op: 'create', hunks, cells: [cellDiff({ carried })] });
    const names = [...shown.querySelectorAll('[role=table]')].map(table => table.getAttribute('aria-label'));
    expect(names).toEqual(['Around the cells', 'Cell 2 (code, id c1): Edited', 'Outputs, metadata and attachments']);
    expect(shown.textContent).toContain('"kernelspec": "evil"');
    expect(shown.textContent).toContain('onerror=alert(1)');
    expect(shown.querySelector('img')).toBeNull();
  });

  it('names each cell and what happened to it', () => {
    const shown = notebook([
      { action: 'edit', index: 0 },
      { action: 'edit', index: 0, moved_from: 6 },
      { action: 'insert', index: 1, cell_type: 'markdown' },
      { action: 'delete', index: 2 },
      { action: 'move', index: 3, moved_from: 5, hunks: [] },
      { action: 'convert', index: 4, cell_type: 'raw' },
      { action: 'clear_outputs', index: 5, hunks: [] }
    ]);
    expect(texts(shown, '.jp-fstools-CellDiff-action')).toEqual([
      'Edited',
      'Edited, moved',
      'Inserted',
      'Deleted',
      'Moved',
      'Converted to raw',
      'Outputs cleared'
    ]);
    expect(shown.querySelector('[role=list] > [role=listitem]')?.getAttribute('aria-label')).toBe(
      'Cell 1 (code, id c1): Edited'
    );
  });

  it('counts a deleted cell among those of before, and says so', () => {
    const shown = notebook([
      { action: 'edit', index: 2 },
      { action: 'delete', index: 2 }
    ]);
    expect(texts(shown, '.jp-fstools-CellDiff-place')).toEqual(['Cell 3', 'Former cell 3']);
    expect(shown.querySelectorAll('[role=listitem]')[1].getAttribute('aria-label')).toMatch(/^Former cell 3 \(/);
  });

  it.each([
    [{ action: 'move' }, false, 'Moved here; source unchanged.'],
    [{ action: 'clear_outputs' }, true, 'Source unchanged.'],
    [{ action: 'insert' }, false, 'Empty cell.'],
    [{ action: 'edit' }, false, 'Source unchanged; outputs or metadata differ.'],
    [{ action: 'convert' }, false, 'Source unchanged.'],
    [{ action: 'insert' }, true, 'Lines not shown: the whole diff is too large.']
  ] as [Partial<CellDiff>, boolean, string][])(
    'says why a cell has no lines: %j, cut: %j',
    (facts, truncated, said) => {
      const shown = notebook([{ ...facts, hunks: [] }], { truncated });
      expect(texts(shown, '[role=listitem] .jp-fstools-Diff-note')).toEqual([said]);
    }
  );

  it('shows hostile cells as text', () => {
    const hostile = '<img src=x onerror=alert(1)>';
    const shown = notebook([{ cell_id: hostile, cell_type: hostile, hunks: [hunk([`+${hostile}`])] }]);
    expect(shown.querySelector('img')).toBeNull();
    expect(texts(shown, '.jp-fstools-CellDiff-id')).toEqual([hostile]);
  });

  it('colours code in the language of the notebook', async () => {
    const shown = notebook([{ hunks: [hunk(['+import os'])] }]);
    await until(() => shown.querySelector('.jp-fstools-Diff-code span') !== null);
    expect(texts(shown, '.jp-fstools-Diff-code span')[0]).toBe('import');
  });

  it('shows many cells only when asked to', async () => {
    const shown = notebook(Array.from({ length: 90 }, (_, index) => ({ index })));
    expect(shown.querySelectorAll('[role=listitem]')).toHaveLength(40);
    shown.querySelector<HTMLButtonElement>('.jp-fstools-Diff-showAll')?.click();
    await until(() => shown.querySelector('.jp-fstools-Diff-showAll') === null);
    expect(texts(shown, '.jp-fstools-CellDiff-place').at(-1)).toBe('Cell 90');
  });
});

describe('a markdown cell', () => {
  const rendered = (node: HTMLElement) => node.querySelector<HTMLButtonElement>('.jp-fstools-CellDiff-rendered')!;

  it('is shown as lines until it is asked for rendered', async () => {
    const shown = notebook([{ cell_type: 'markdown', hunks: [hunk([' same', '-*old*', '+*new*'])] }]);
    expect(rendered(shown).getAttribute('aria-pressed')).toBe('false');
    rendered(shown).click();
    await until(() => texts(shown, '.jp-RenderedMarkdown p').length === 2);
    expect(texts(shown, '.jp-RenderedMarkdown p')).toEqual(['same\n*old*', 'same\n*new*']);
    expect(texts(shown, '.jp-fstools-RenderedChange-caption')).toEqual(['Before, from line 1', 'After, from line 1']);
    expect(shown.querySelector('.jp-fstools-Diff')?.classList).toContain('lm-mod-hidden');
    rendered(shown).click();
    expect(shown.querySelector('.jp-fstools-Diff')?.classList).not.toContain('lm-mod-hidden');
  });

  it('that was code before is rendered only as it is now', async () => {
    const shown = notebook([{ action: 'convert', cell_type: 'markdown' }]);
    rendered(shown).click();
    await until(() => texts(shown, '.jp-RenderedMarkdown p').length > 0);
    expect(texts(shown, '.jp-RenderedMarkdown p')).toEqual(['y']);
  });

  it('is rendered without scripts', async () => {
    const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script><b>bold</b>';
    const shown = notebook([{ action: 'insert', cell_type: 'markdown', hunks: [hunk([`+${hostile}`])] }]);
    rendered(shown).click();
    await until(() => shown.querySelector('.jp-RenderedMarkdown b') !== null);
    expect(shown.querySelector('script, [onerror]')).toBeNull();
  });

  it('is the only kind that has a rendered view', () => {
    expect(rendered(notebook([{ cell_type: 'code' }]))).toBeNull();
  });
});
