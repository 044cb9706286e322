import { type YCodeCell, YFile, YNotebook } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import fc from 'fast-check';

import type { CellOperation, ICellName, Span } from '../../documents/messages';

import { patchNotebook, patchText } from '../../documents/patches';
import { reconcileNotebook } from '../../documents/reconcile';

// Yjs warns each time JupyterLab creates a cell.
jest.spyOn(console, 'warn').mockImplementation();

const TOTAL = 6;

interface ISimpleCell {
  id: string;
  source: string;
  cell_type: string;
}

type Edit = { do: CellOperation['do']; at: number; after: number };

const edits = fc.uniqueArray(
  fc.record<Edit>({
    do: fc.constantFrom('source', 'convert', 'delete', 'insert', 'move'),
    at: fc.nat(TOTAL - 1),
    after: fc.integer({ min: -1, max: TOTAL - 1 })
  }),
  { selector: ({ at }) => at, maxLength: TOTAL }
);

function cellOf({ id, source, cell_type }: ISimpleCell) {
  return {
    id,
    source,
    cell_type,
    metadata: {},
    ...(cell_type === 'code' ? { outputs: [], execution_count: null } : {})
  };
}

function notebookOf(cells: readonly ISimpleCell[]): YNotebook {
  const notebook = new YNotebook();
  notebook.insertCells(0, cells.map(cellOf) as never);
  return notebook;
}

function cellsOf(notebook: YNotebook): ISimpleCell[] {
  return notebook.cells.map(cell => ({ id: cell.id, source: cell.getSource(), cell_type: cell.cell_type }));
}

const before = Array.from({ length: TOTAL }, (_, at) => ({ id: `c${at}`, source: `x${at} = 1`, cell_type: 'code' }));

/** The cells after some edits, and the operations that a page is sent for them. */
function told(wanted: readonly Edit[]): [ISimpleCell[], CellOperation[]] {
  const after = before.map(cell => ({ ...cell }));
  const operations: CellOperation[] = [];
  const name = (at: number): ICellName => ({ id: `c${at}`, index: at });
  const placed = (at: number) => after.findIndex(({ id }) => id === `c${at}`);
  let made = TOTAL;
  for (const { do: what, at, after: behind } of wanted) {
    const anchor = behind < 0 || placed(behind) < 0 || behind === at ? null : name(behind);
    const place = () => (anchor === null ? 0 : placed(behind) + 1);
    const now = placed(at);
    if (what === 'source') {
      after[now].source = `x${at} = 2`;
      operations.push({ do: 'source', cell: name(at), spans: [[5, '1', '2', '= ', '']] });
    } else if (what === 'convert') {
      after[now].cell_type = 'markdown';
      operations.push({ do: 'convert', cell: name(at), cell_type: 'markdown' });
    } else if (what === 'delete') {
      after.splice(now, 1);
      operations.push({ do: 'delete', cell: name(at), source: `x${at} = 1` });
    } else if (what === 'insert') {
      const cell = { id: `new${made}`, source: 'new', cell_type: 'code' };
      after.splice(place(), 0, cell);
      operations.push({ do: 'insert', cell: { id: cell.id, index: made++ }, after: anchor, content: cellOf(cell) });
    } else {
      const [moved] = after.splice(now, 1);
      after.splice(place(), 0, moved);
      operations.push({ do: 'move', cell: name(at), after: anchor });
    }
  }
  return [after, operations];
}

it('any operations leave the cells that they say, and those before them once they are taken back', () => {
  fc.assert(
    fc.property(edits, wanted => {
      const [after, operations] = told(wanted);
      const notebook = notebookOf(before);
      const made = patchNotebook(notebook, { kind: 'notebook', total: TOTAL, operations });
      expect(cellsOf(notebook)).toEqual(after);
      made.takeBack();
      expect(cellsOf(notebook)).toEqual(before);
    })
  );
});

it('a change is taken back in a cell that its person drags meanwhile, and what they typed there stays', () => {
  const notebook = notebookOf(before);
  const outputs = [{ output_type: 'stream', name: 'stdout', text: 'printed' }] as never[];
  (notebook.cells[1] as YCodeCell).setOutputs(outputs);
  const cell = { id: 'c1', index: 1 };
  const operations: CellOperation[] = [
    { do: 'source', cell, spans: [[5, '1', '2', '= ', '']] },
    { do: 'members', cell, set: { outputs: [] } }
  ];
  const made = patchNotebook(notebook, { kind: 'notebook', total: TOTAL, operations });
  notebook.cells[1].updateSource(0, 0, '# before\n');
  notebook.moveCell(1, 3);
  notebook.cells[3].updateSource(15, 15, ' # typed');
  notebook.moveCell(3, 0);
  made.takeBack();
  expect(notebook.cells[0].toJSON()).toMatchObject({ id: 'c1', source: '# before\nx1 = 1 # typed', outputs });
});

it('a change is taken back in a cell that its person deleted and brought back', () => {
  const notebook = notebookOf(before);
  notebook.clearUndoHistory();
  const spans: Span[] = [[5, '1', '2', '= ', '']];
  const operations: CellOperation[] = [{ do: 'source', cell: { id: 'c1', index: 1 }, spans }];
  const made = patchNotebook(notebook, { kind: 'notebook', total: TOTAL, operations });
  notebook.deleteCell(1);
  notebook.undo();
  expect(notebook.cells[1].getSource()).toBe('x1 = 2');
  made.takeBack();
  expect(cellsOf(notebook)).toEqual(before);
});

it('metadata from a file change all but the trust in a cell', () => {
  const notebook = notebookOf(before.slice(0, 1));
  notebook.cells[0].setMetadata({ trusted: true, old: 1 });
  const set = { metadata: { trusted: false, tags: ['new'] } };
  const operations: CellOperation[] = [{ do: 'members', cell: { id: 'c0', index: 0 }, set }];
  const made = patchNotebook(notebook, { kind: 'notebook', total: 1, operations });
  expect(notebook.cells[0].getMetadata()).toEqual({ trusted: true, tags: ['new'] });
  made.takeBack();
  expect(notebook.cells[0].getMetadata()).toEqual({ trusted: true, old: 1 });
});

describe('what is put into a text', () => {
  const put = (source: string, ...spans: Span[]) => {
    const text = YFile.create();
    text.setSource(source);
    patchText(text, { kind: 'text', spans });
    return text.getSource();
  };

  it('that was empty is refused where its person has typed since', () => {
    const whole: Span = [0, '', 'x = 1', '', ''];
    expect(put('', whole)).toBe('x = 1');
    expect(() => put('typed', whole)).toThrow('text');
    const [empty] = before.map(cell => ({ ...cell, source: '' }));
    const notebook = notebookOf([{ ...empty, source: 'typed' }]);
    const operations: CellOperation[] = [{ do: 'source', cell: { id: 'c0', index: 0 }, spans: [whole] }];
    expect(() => patchNotebook(notebook, { kind: 'notebook', total: 1, operations })).toThrow('text');
    expect(notebook.cells[0].getSource()).toBe('typed');
  });

  it('goes between what is around it, wherever that is by now', () => {
    expect(put('ab', [1, '', '!', 'a', 'b'])).toBe('a!b');
    expect(put('typed ab', [1, '', '!', 'a', 'b'])).toBe('typed a!b');
  });

  it('counts as JavaScript does, and cuts no character of two halves', () => {
    expect(put('😀🎉', [2, '🎉', '🎈', '😀', ''])).toBe('😀🎈');
  });
});

describe('a cell with Windows line endings', () => {
  const windows = { id: 'c0', source: 'x = 1\r\ny = 2\r\n', cell_type: 'code' };
  const cell = { id: 'c0', index: 0 };
  const spans: Span[] = [
    [5, '\r', '', 'x = 1', '\n'],
    [11, '2\r', '3', '\ny = ', '\n']
  ];
  const edit = (notebook: YNotebook) =>
    patchNotebook(notebook, { kind: 'notebook', total: 1, operations: [{ do: 'source', cell, spans }] });

  it('is recreated, because its editor counts other positions, and so is what is taken back', () => {
    const notebook = notebookOf([windows]);
    const [old] = notebook.cells;
    notebook.cells[0].setMetadata('trusted', true);
    const made = edit(notebook);
    expect(cellsOf(notebook)).toEqual([{ ...windows, source: 'x = 1\ny = 3\n' }]);
    expect(notebook.cells[0]).not.toBe(old);
    expect(notebook.cells[0].getMetadata('trusted')).toBe(true);
    made.takeBack();
    expect(cellsOf(notebook)).toEqual([windows]);
  });

  it('keeps what its person typed in it before an edit was taken back', () => {
    const notebook = notebookOf([windows]);
    const made = edit(notebook);
    notebook.cells[0].updateSource(0, 0, '# typed\n');
    made.takeBack();
    expect(notebook.cells[0].getSource()).toBe('# typed\nx = 1\ny = 3\n');
  });

  it('is left to who types in it', () => {
    const notebook = notebookOf([windows]);
    notebook.awareness.setLocalStateField('fstools:caret', 'c0');
    expect(() => edit(notebook)).toThrow('caret');
    expect(cellsOf(notebook)).toEqual([windows]);
  });

  it('follows its file as a new one, with either line ending', () => {
    for (const source of ['x = 1\ny = 3\n', 'x = 1\r\ny = 3\r\n']) {
      const notebook = notebookOf([windows]);
      const [old] = notebook.cells;
      const { nbformat, nbformat_minor } = notebook;
      const file = { cells: [cellOf({ ...windows, source })], metadata: {}, nbformat, nbformat_minor };
      expect(reconcileNotebook(notebook, file)).toBe(true);
      expect(cellsOf(notebook)).toEqual([{ ...windows, source }]);
      expect(notebook.cells[0]).not.toBe(old);
    }
  });
});

describe('outputs that come back', () => {
  const html = { output_type: 'display_data', data: { 'text/html': '<script></script>' }, metadata: {} };
  const mine = { output_type: 'stream', name: 'stdout', text: 'mine' };
  const cell = { id: 'c0', index: 0 };
  let notebook: YNotebook;

  beforeEach(() => {
    notebook = notebookOf(before.slice(0, 1));
  });

  function set(...outputs: JSONObject[]) {
    const operations: CellOperation[] = [{ do: 'members', cell, set: { outputs, execution_count: 2 } }];
    return patchNotebook(notebook, { kind: 'notebook', total: 1, operations });
  }

  function run(...outputs: JSONObject[]): void {
    shown().setOutputs(outputs as never);
    shown().setMetadata('trusted', true);
  }

  const shown = () => notebook.cells[0] as YCodeCell;
  const state = () => ({ trusted: shown().getMetadata('trusted') === true, outputs: shown().getOutputs() });

  it('are not trusted where the cell is since then', () => {
    shown().setOutputs([html]);
    set().keep();
    run();
    const source: CellOperation = { do: 'source', cell, spans: [[5, '1', '2', '= ', '']] };
    const outputs: CellOperation = { do: 'members', cell, set: { outputs: [html], execution_count: 2 } };
    const made = patchNotebook(notebook, { kind: 'notebook', total: 1, operations: [source, outputs] });
    expect(state()).toEqual({ trusted: false, outputs: [html] });
    expect([shown().getSource(), shown().execution_count]).toEqual(['x0 = 2', 2]);
    made.takeBack();
    expect(state()).toEqual({ trusted: false, outputs: [] });
    expect(cellsOf(notebook)).toEqual(before.slice(0, 1));
  });

  it('are not trusted either where a change is taken back that its file never had', () => {
    shown().setOutputs([html]);
    const made = set();
    run();
    made.takeBack();
    expect(state()).toEqual({ trusted: false, outputs: [html] });
  });

  it('are trusted in a trusted cell that had them, whatever its text is by then', () => {
    run(html);
    const same = shown();
    set().keep();
    run(mine);
    shown().updateSource(0, 0, '# typed');
    set(html).takeBack();
    expect(state()).toEqual({ trusted: true, outputs: [mine] });
    set(html).keep();
    expect(state()).toEqual({ trusted: true, outputs: [html] });
    expect(shown()).toBe(same);
  });

  it('are trusted in a trusted cell that was converted to a text and back', () => {
    run(html);
    const convert = (cell_type: string, ...more: CellOperation[]) =>
      patchNotebook(notebook, {
        kind: 'notebook',
        total: 1,
        operations: [{ do: 'convert', cell, cell_type }, ...more]
      });
    convert('markdown').keep();
    convert('code', { do: 'members', cell, set: { outputs: [html] } }).keep();
    expect(state()).toEqual({ trusted: true, outputs: [html] });
  });

  it('are left out where that would take a cell away in which somebody types', () => {
    run();
    const same = shown();
    notebook.awareness.setLocalStateField('fstools:caret', 'c0');
    set(html).keep();
    expect(state()).toEqual({ trusted: true, outputs: [] });
    expect(shown()).toBe(same);
  });
});

it('a cell in which somebody types stays the same one, or nothing is changed', () => {
  fc.assert(
    fc.property(edits, fc.nat(TOTAL - 1), (wanted, typedIn) => {
      const [after, operations] = told(wanted);
      const notebook = notebookOf(before);
      const cell = notebook.cells[typedIn];
      notebook.awareness.setLocalStateField('fstools:caret', cell.id);
      const patch = () => patchNotebook(notebook, { kind: 'notebook', total: TOTAL, operations });
      if (wanted.some(({ do: what, at }) => at === typedIn && (what === 'convert' || what === 'delete'))) {
        expect(patch).toThrow('caret');
        expect(cellsOf(notebook)).toEqual(before);
      } else {
        const made = patch();
        expect(cellsOf(notebook)).toEqual(after);
        expect(notebook.cells).toContain(cell);
        made.takeBack();
        expect(cellsOf(notebook)).toEqual(before);
        expect(notebook.cells).toContain(cell);
      }
    })
  );
});

it('a notebook becomes what its file says, whatever was changed there', () => {
  fc.assert(
    fc.property(edits, wanted => {
      const [after] = told(wanted);
      const notebook = notebookOf(before);
      const { nbformat, nbformat_minor } = notebook;
      expect(reconcileNotebook(notebook, { cells: after.map(cellOf), metadata: {}, nbformat, nbformat_minor })).toBe(
        true
      );
      expect(cellsOf(notebook)).toEqual(after);
    })
  );
});
