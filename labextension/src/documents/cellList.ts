/** Tracks a notebook's cells while a transaction inserts, deletes and moves them. */

import type { ISharedCell, ISharedCodeCell, ISharedNotebook, SharedCell } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { cellsWithCarets, isShownRunning } from './carets';

/** The current cells: the model's own list changes only after the transaction. */
export class CellList {
  constructor(private _model: ISharedNotebook) {
    this.cells = [..._model.cells];
    this._carets = cellsWithCarets(_model);
  }

  readonly cells: ISharedCell[];

  hasCaret({ id }: ISharedCell): boolean {
    return this._carets.has(id);
  }

  /** Whether a cell must not be recreated, because its running output or a person's typing would be lost. */
  stays(cell: ISharedCell): boolean {
    return isRunning(cell) || this.hasCaret(cell);
  }

  insert(at: number, content: JSONObject): ISharedCell {
    const cell = this._model.insertCell(at, content as unknown as SharedCell.Cell);
    this.cells.splice(at, 0, cell);
    return cell;
  }

  delete(at: number): void {
    this._model.deleteCell(at);
    this.cells.splice(at, 1);
  }

  /** Move a cell to an index; return the cells that were recreated for that, each before and after. */
  move(from: number, to: number): [ISharedCell, ISharedCell][] {
    if (!this.stays(this.cells[from])) {
      return [this._remake(from, to)];
    }
    const step = Math.sign(to - from);
    return Array.from({ length: Math.abs(to - from) }, (_, passed) => {
      const at = from + passed * step;
      return this._remake(at + step, at);
    });
  }

  private _remake(from: number, to: number): [ISharedCell, ISharedCell] {
    const cell = this.cells[from];
    const content = cell.toJSON() as unknown as JSONObject;
    this.delete(from);
    return [cell, this.insert(to, content)];
  }

  private _carets: Set<string>;
}

/** Whether a cell is running or queued to run. */
export function isRunning(cell: ISharedCell): boolean {
  const state = (cell as Partial<ISharedCodeCell>).executionState;
  return state === undefined ? isShownRunning(cell) : state !== null && state !== 'idle';
}

/** Whether only a recreated cell shows a text right: an editor counts `\r\n` as one character, the model as two. */
export function needsNewEditor(...texts: readonly string[]): boolean {
  return texts.some(text => text.includes('\r\n'));
}
