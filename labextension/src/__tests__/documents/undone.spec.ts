import type { JSONObject } from '@lumino/coreutils';

import { YFile, YNotebook } from '@jupyter/ydoc';

import { keepEditsInUndo, reloadInPlace } from '../../documents/undone';

// Yjs warns each time JupyterLab creates a cell.
jest.spyOn(console, 'warn').mockImplementation();

function opened(isWhole: boolean): YNotebook {
  const notebook = new YNotebook({ disableDocumentWideUndoRedo: !isWhole });
  const cells = ['x', 'y', 'z'].map(source => ({ id: `c_${source}`, source, cell_type: 'code', metadata: {} }));
  notebook.fromJSON({ cells: cells as never, metadata: {}, nbformat: 4, nbformat_minor: 5 });
  notebook.clearUndoHistory();
  keepEditsInUndo(notebook);
  return notebook;
}

/** Move a cell as a person or an assistant does, or convert it at its place. */
function recreate(notebook: YNotebook, from: number, to: number, more: JSONObject = {}, isPersons = true): void {
  notebook.transact(() => {
    const content = notebook.getCell(from).toJSON();
    notebook.deleteCell(from);
    notebook.insertCell(to, { ...content, ...more } as never);
  }, isPersons);
}

/** Edit a cell as an assistant does. */
function edit(notebook: YNotebook, at: number, source: string): void {
  notebook.transact(() => notebook.getCell(at).updateSource(0, 1, source), false);
}

const told = ({ cells }: YNotebook): string[] => cells.map(cell => `${cell.cell_type} ${cell.id} ${cell.getSource()}`);

describe.each([
  ['of the whole notebook', true],
  ['of each cell', false]
])('the undo history %s', (_, isWhole) => {
  it('brings a moved cell back with what an assistant wrote in it, and moves it again', () => {
    const notebook = opened(isWhole);
    recreate(notebook, 2, 0);
    edit(notebook, 0, 'z = 2');
    edit(notebook, 1, 'x = 2');
    notebook.undo();
    expect(told(notebook)).toEqual(['code c_x x = 2', 'code c_y y', 'code c_z z = 2']);
    notebook.transact(() => notebook.getCell(2).updateSource(4, 5, '3'), false);
    notebook.redo();
    expect(told(notebook)).toEqual(['code c_z z = 3', 'code c_x x = 2', 'code c_y y']);
  });

  it('brings a converted cell back with what an assistant wrote in it', () => {
    const notebook = opened(isWhole);
    recreate(notebook, 1, 1, { cell_type: 'markdown' });
    edit(notebook, 1, 'other');
    notebook.undo();
    expect(told(notebook)).toEqual(['code c_x x', 'code c_y other', 'code c_z z']);
  });

  it('has no cell twice that an assistant has moved since', () => {
    const notebook = opened(isWhole);
    recreate(notebook, 2, 0);
    recreate(notebook, 0, 1, {}, false);
    notebook.undo();
    expect(told(notebook)).toEqual(['code c_x x', 'code c_z z', 'code c_y y']);
  });

  it('brings deleted cells back as they were', () => {
    const notebook = opened(isWhole);
    notebook.deleteCell(1);
    edit(notebook, 1, 'z = 2');
    notebook.undo();
    expect(told(notebook)).toEqual(['code c_x x', 'code c_y y', 'code c_z z = 2']);
  });
});

it('undoes a reload of a text without what an assistant has edited since', () => {
  const text = YFile.create();
  reloadInPlace(text);
  text.setSource('x = 1\ny = 1\nz = 1 # typed\n');
  text.clearUndoHistory();
  text.undoManager.stopCapturing();
  text.setSource('x = 1\ny = 1\nz = 1\n');
  text.transact(() => text.updateSource(4, 11, '2\ny = 2'), false);
  text.undo();
  expect(text.getSource()).toBe('x = 2\ny = 2\nz = 1 # typed\n');
});
