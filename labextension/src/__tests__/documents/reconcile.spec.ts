import type { ISharedCodeCell } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { YFile, YNotebook } from '@jupyter/ydoc';
import fc from 'fast-check';

import { reconcileNotebook, reconcileText } from '../../documents/reconcile';

// Yjs warns each time JupyterLab creates a cell.
jest.spyOn(console, 'warn').mockImplementation();

/** Characters of which two share their first surrogate, and two their last. */
const HALVES = ['😀', '😁', String.fromCodePoint(0x1fa00)] as const;
const PRINTED = { output_type: 'stream', name: 'stdout', text: 'printed' };

function cellOf(id: string, source: string | string[], more: JSONObject = {}): JSONObject {
  return { id, source, cell_type: 'code', metadata: {}, outputs: [], execution_count: null, ...more };
}

function opened(...cells: JSONObject[]): YNotebook {
  const notebook = new YNotebook();
  notebook.fromJSON({ cells: cells as never, metadata: {}, nbformat: 4, nbformat_minor: 5 });
  return notebook;
}

function file({ nbformat, nbformat_minor }: YNotebook, cells: JSONObject[], more: JSONObject = {}): JSONObject {
  return { cells, metadata: {}, nbformat, nbformat_minor, ...more };
}

describe('a notebook', () => {
  it('keeps the cells that did not change, and all that are where they were', () => {
    const notebook = opened(cellOf('a', 'x'), cellOf('b', 'y'), cellOf('c', 'z'));
    const [a, b, c] = notebook.cells;
    const wanted = [cellOf('a', 'x'), cellOf('new', 'n'), cellOf('b', ['y\n', 'y']), cellOf('c', 'z')];
    expect(reconcileNotebook(notebook, file(notebook, wanted))).toBe(true);
    expect(notebook.cells.map(cell => cell.getSource())).toEqual(['x', 'n', 'y\ny', 'z']);
    expect([notebook.cells[0], notebook.cells[2], notebook.cells[3]]).toEqual([a, b, c]);
  });

  it('has an emoji for another one', () => {
    const notebook = opened(cellOf('a', 'hi 🎉'));
    expect(reconcileNotebook(notebook, file(notebook, [cellOf('a', 'hi 🎈')]))).toBe(true);
    expect(notebook.cells[0].getSource()).toBe('hi 🎈');
  });

  it('takes over outputs, counts and metadata', () => {
    const notebook = opened(cellOf('a', 'x', { metadata: { tags: ['old'] } }));
    const before = notebook.cells[0];
    const wanted = cellOf('a', 'x', { outputs: [PRINTED], execution_count: 3, metadata: { name: 'n' } });
    expect(reconcileNotebook(notebook, file(notebook, [wanted], { metadata: { title: 't' } }))).toBe(true);
    const [cell] = notebook.cells as ISharedCodeCell[];
    expect([cell.getOutputs(), cell.execution_count, cell.getMetadata()]).toEqual([[PRINTED], 3, { name: 'n' }]);
    expect(cell).toBe(before);
    expect(notebook.getMetadata()).toEqual({ title: 't' });
  });

  it('takes over the pictures of a text, also none', () => {
    const picture = { 'a.png': { 'image/png': 'AAAA' } };
    const text = { id: 'a', source: 'x', cell_type: 'markdown', metadata: {} };
    const notebook = opened(text);
    const before = notebook.cells[0];
    for (const more of [{ attachments: picture }, {}] as JSONObject[]) {
      expect(reconcileNotebook(notebook, file(notebook, [{ ...text, ...more }]))).toBe(true);
      expect(notebook.cells[0].toJSON()).toEqual({ ...text, ...more });
      expect(notebook.cells[0]).toBe(before);
    }
  });

  it('gives outputs that others wrote no trust, and takes it from none that stay', () => {
    const trusted = { metadata: { trusted: true }, outputs: [PRINTED] };
    const notebook = opened(cellOf('a', 'x', trusted), cellOf('b', 'y', trusted));
    const scripted = { output_type: 'display_data', data: { 'text/html': '<script></script>' }, metadata: {} };
    const told = { metadata: { trusted: false } };
    const wanted = [
      cellOf('a', 'x', { ...told, outputs: [scripted] }),
      cellOf('b', 'z', { ...told, outputs: [PRINTED] })
    ];
    expect(reconcileNotebook(notebook, file(notebook, wanted))).toBe(true);
    const cells = notebook.cells as ISharedCodeCell[];
    expect(cells.map(cell => cell.getMetadata('trusted'))).toEqual([false, true]);
    expect(cells.map(cell => cell.getOutputs())).toEqual([[scripted], [PRINTED]]);
  });

  it('leaves what a running cell puts out to its kernel', () => {
    const notebook = opened(cellOf('a', 'x', { outputs: [PRINTED] }));
    const [cell] = notebook.cells as ISharedCodeCell[];
    cell.executionState = 'running';
    expect(reconcileNotebook(notebook, file(notebook, [cellOf('a', 'y')]))).toBe(true);
    expect([cell.getSource(), cell.getOutputs()]).toEqual(['y', [PRINTED]]);
  });

  it('is left alone where a cell that is running would go, or be made anew', () => {
    const notebook = opened(cellOf('a', 'x'), cellOf('b', 'y'));
    (notebook.cells[1] as ISharedCodeCell).executionState = 'running';
    const { id, source, metadata } = cellOf('b', 'y');
    for (const more of [[], [{ id, source, metadata, cell_type: 'markdown' }]] as JSONObject[][]) {
      expect(reconcileNotebook(notebook, file(notebook, [cellOf('a', 'x'), ...more]))).toBe(false);
    }
    expect(notebook.cells.map(cell => [cell.getSource(), cell.cell_type])).toEqual([
      ['x', 'code'],
      ['y', 'code']
    ]);
  });

  it('is left to a reload where its format is another', () => {
    const notebook = opened(cellOf('a', 'x'), cellOf('b', 'y'));
    expect(reconcileNotebook(notebook, file(notebook, [], { nbformat_minor: 99 }))).toBe(false);
    expect(reconcileNotebook(notebook, { worksheets: [] })).toBe(false);
    expect(notebook.cells.map(cell => cell.getSource())).toEqual(['x', 'y']);
  });

  describe('whose file has no ids', () => {
    function unnamed(source: string, more: JSONObject = {}): JSONObject {
      const { id: _id, ...cell } = cellOf('', source, more);
      return cell;
    }

    it('keeps the cells before and behind what a program inserted or deleted', () => {
      const notebook = opened(cellOf('a', 'x'), cellOf('b', 'y'), cellOf('c', 'z'));
      const [a, b, c] = notebook.cells;
      const more = ['x', 'new', 'y', 'z'].map(source => unnamed(source));
      expect(reconcileNotebook(notebook, file(notebook, more))).toBe(true);
      expect(notebook.cells.map(cell => cell.getSource())).toEqual(['x', 'new', 'y', 'z']);
      expect([notebook.cells[0], notebook.cells[2], notebook.cells[3]]).toEqual([a, b, c]);
      expect(reconcileNotebook(notebook, file(notebook, [unnamed('x'), unnamed('z')]))).toBe(true);
      expect(notebook.cells).toEqual([a, c]);
    });

    it('becomes what its file says, and keeps as many cells as it can at both ends', () => {
      const sources = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 6 });
      fc.assert(
        fc.property(sources, sources, (before, wanted) => {
          const notebook = opened(...before.map((source, index) => cellOf(`c${index}`, source)));
          const cells = [...notebook.cells];
          expect(
            reconcileNotebook(
              notebook,
              file(
                notebook,
                wanted.map(source => unnamed(source))
              )
            )
          ).toBe(true);
          expect(notebook.cells.map(cell => cell.getSource())).toEqual(wanted);
          const kept = notebook.cells.filter(cell => cells.includes(cell));
          expect(kept).toHaveLength(Math.min(before.length, wanted.length));
        })
      );
    });

    it('gives no running cell the text of another one', () => {
      const notebook = opened(cellOf('a', 'x'), cellOf('b', 'y'), cellOf('c', 'z'));
      (notebook.cells[1] as ISharedCodeCell).executionState = 'running';
      const more = ['new', 'x', 'y', 'changed'].map(source => unnamed(source));
      expect(reconcileNotebook(notebook, file(notebook, more))).toBe(false);
      expect(notebook.cells.map(cell => cell.getSource())).toEqual(['x', 'y', 'z']);
      expect(reconcileNotebook(notebook, file(notebook, more.slice(1)))).toBe(true);
      expect(notebook.cells.map(cell => cell.getSource())).toEqual(['x', 'y', 'changed']);
    });
  });
});

describe('a text', () => {
  it('becomes the other one, and keeps what both begin and end with', () => {
    const texts = fc.stringOf(fc.constantFrom('a', '\n', ...HALVES), { maxLength: 12 });
    fc.assert(
      fc.property(texts, texts, (before, wanted) => {
        const text = YFile.create();
        text.setSource(before);
        const replace = jest.spyOn(text, 'updateSource');
        reconcileText(text, wanted);
        expect(text.getSource()).toBe(wanted);
        const replaced = replace.mock.calls.map(([start, end, value = '']) => end - start + value.length);
        expect(replaced.length > 0).toBe(before !== wanted);
        expect(replaced.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(before.length + wanted.length);
      })
    );
  });

  it.each([
    ['a = 1\nb = 1\n\nc = 1\nd = 1\n', 'a = 2\nb = 1\n\nc = 1\nd = 2\n', 'b = 1\n\nc = 1\n'],
    ['# old\n\na\n\nb\n', '# new\n\na\n\nmore\n\nb\n', '\n\na'],
    ['a\nb\nc\nd\n', 'd\na\nb\nc\n', 'a\nb\nc\n']
  ])('keeps what lies between two changes of %j', (before, wanted, between) => {
    const text = YFile.create();
    text.setSource(before);
    const replace = jest.spyOn(text, 'updateSource');
    reconcileText(text, wanted);
    expect(text.getSource()).toBe(wanted);
    const at = before.indexOf(between);
    expect(replace).toHaveBeenCalledTimes(2);
    expect(replace.mock.calls.every(([from, to]) => to <= at || from >= at + between.length)).toBe(true);
  });

  it.each([
    ['another that begins alike', '# 🎉\n', '# 🎈\n'],
    ['another that ends alike', '# 😀\n', `# ${HALVES[2]}\n`],
    ['a new one', '😀', '😁😀']
  ])('keeps its characters whole beside %s', (_, before, wanted) => {
    const text = YFile.create();
    text.setSource(before);
    reconcileText(text, wanted);
    expect(text.getSource()).toBe(wanted);
  });
});
