/** Keeps what a cell has become when its person undoes that they moved or converted it. */

import type { ISharedCell, ISharedNotebook } from '@jupyter/ydoc';

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
