/** Keeps what assistants wrote when a person undoes a reload, or that they moved or converted a cell. */

import type { ISharedCell, ISharedNotebook, YFile } from '@jupyter/ydoc';

import { reconcileText } from './reconcile';

interface IWithHistory extends ISharedNotebook {
  readonly undoManager: unknown;
  readonly ydoc: {
    on(name: 'beforeTransaction' | 'afterTransaction', act: (transaction: { origin: unknown }) => void): void;
  };
}

/**
 * Follow a notebook's undo history. JupyterLab moves and converts a cell by recreating it, so undoing that brings the
 * cell back as it was before, without the edits that are in no history or in another one.
 */
export function keepEditsInUndo(model: ISharedNotebook): void {
  const { undoManager, ydoc } = model as IWithHistory;
  let before = new Map<ISharedCell, [id: string, source: string]>();
  ydoc.on('beforeTransaction', ({ origin }) => {
    if (origin === undoManager) {
      before = new Map(model.cells.map(cell => [cell, [cell.id, cell.getSource()]]));
    }
  });
  ydoc.on('afterTransaction', ({ origin }) => {
    if (origin === undoManager) {
      const was = before;
      before = new Map();
      model.transact(() => bringUp(model, was), false);
    }
  });
}

/**
 * Let a reload of a text file change only what differs. JupyterLab replaces the whole text, so undoing that would remove
 * all text around later edits, which are not in the history.
 */
export function reloadInPlace(model: YFile): void {
  const { ysource } = model;
  // Not by the model's own method, which also marks the document as unsaved.
  const updateSource = (start: number, end: number, text: string): void => {
    ysource.delete(start, end - start);
    ysource.insert(start, text);
  };
  model.setSource = source =>
    model.transact(() => reconcileText({ getSource: () => model.getSource(), updateSource }, source));
}

function bringUp(model: ISharedNotebook, before: ReadonlyMap<ISharedCell, [id: string, source: string]>): void {
  const stayed = new Set(model.cells.filter(cell => before.has(cell)).map(({ id }) => id));
  const sources = new Map(before.values());
  // From the end, so that a deletion leaves the indices of the cells still to be looked at.
  for (const [at, cell] of [...model.cells.entries()].reverse()) {
    const source = sources.get(cell.id);
    if (before.has(cell) || source === undefined) {
      continue;
    }
    if (stayed.has(cell.id)) {
      // An assistant has moved or converted the cell since, which recreated it.
      model.deleteCell(at);
    } else if (cell.getSource() !== source) {
      reconcileText(cell, source);
    }
  }
}
