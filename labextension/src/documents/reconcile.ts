/** Updates an open notebook to its file on disk, cell by cell. */

import { diff } from '@codemirror/merge';
import type { ISharedCell, ISharedNotebook, ISharedText } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { equalEnds } from '../equalEnds';
import { transactInPlace } from './carets';
import { CellList, isRunning, needsNewEditor } from './cellList';
import { setMember } from './cellMembers';
import { bringsUntrusted } from './trust';

/** The limits of the library: two texts that have little in common are one range, found within some milliseconds. */
const DIFF_EFFORT = { scanLimit: 500, timeout: 100 };

/** Change only what differs from a notebook's file; false where that needs a reload or would end a running cell. */
export function reconcileNotebook(model: ISharedNotebook, file: JSONObject): boolean {
  const wanted = file.cells as JSONObject[] | undefined;
  if (!wanted || file.nbformat !== model.nbformat || file.nbformat_minor !== model.nbformat_minor) {
    return false;
  }
  const list = new CellList(model);
  const named = withIds(list, wanted);
  const types = new Map(named.map(({ id, cell_type }) => [id, cell_type]));
  if (list.cells.some(cell => isRunning(cell) && types.get(cell.id) !== cell.cell_type)) {
    return false;
  }
  transactInPlace(model, () => {
    arrange(list, named);
    named.forEach((cell, index) => bringUp(list, index, cell));
    model.setMetadata((file.metadata ?? {}) as never);
  });
  return true;
}

/**
 * Give wanted cells the ids of the model's cells: files before format 4.5 have none. Equal cells at both ends get the
 * same id, cells between them by position; a running cell is only matched with an equal one.
 */
function withIds({ cells }: CellList, wanted: readonly JSONObject[]): readonly JSONObject[] {
  if (wanted.every(cell => typeof cell.id === 'string')) {
    return wanted;
  }
  const isEqual = (cell: ISharedCell, { cell_type, source }: JSONObject): boolean =>
    cell.cell_type === cell_type && cell.getSource() === textOf(source);
  const [, tail] = equalEnds(cells.length, wanted.length, (at, other) => isEqual(cells[at], wanted[other]));
  return wanted.map((cell, index) => {
    const fromEnd = wanted.length - index;
    const same = fromEnd <= tail ? cells[cells.length - fromEnd] : index < cells.length - tail ? cells[index] : null;
    return same && (!isRunning(same) || isEqual(same, cell)) ? { ...cell, id: same.id } : cell;
  });
}

function textOf(source: unknown): string {
  return typeof source === 'string' ? source : (source as string[]).join('');
}

/** Replace only the ranges of a text that differ from the wanted one, so that a caret between them stays. */
export function reconcileText(model: Pick<ISharedText, 'getSource' | 'updateSource'>, wanted: string): void {
  for (const { fromA, toA, fromB, toB } of [...diff(model.getSource(), wanted, DIFF_EFFORT)].reverse()) {
    model.updateSource(fromA, toA, wanted.slice(fromB, toB));
  }
}

/** Delete, insert and move cells to get the wanted ones in order; new ones are as in the file. */
function arrange(list: CellList, wanted: readonly JSONObject[]): void {
  const ids = new Set(wanted.map(cell => cell.id));
  for (let at = list.cells.length - 1; at >= 0; at--) {
    if (!ids.has(list.cells[at].id)) {
      list.delete(at);
    }
  }
  wanted.forEach((cell, at) => {
    const from = list.cells.findIndex(one => one.id === cell.id);
    if (from < 0) {
      list.insert(at, cell);
    } else if (from !== at) {
      list.move(from, at);
    }
  });
}

function bringUp(list: CellList, index: number, wanted: JSONObject): void {
  const cell = list.cells[index];
  const [source, now] = [textOf(wanted.source), cell.getSource()];
  const needsNew = source !== now && needsNewEditor(source, now) && !list.stays(cell);
  if (cell.cell_type !== wanted.cell_type || losesTrust(cell, wanted) || needsNew) {
    list.delete(index);
    list.insert(index, wanted);
    return;
  }
  reconcileText(cell, source);
  for (const name of ['outputs', 'execution_count', 'metadata', 'attachments']) {
    setMember(cell, name, wanted[name]);
  }
}

/** Whether new outputs would inherit the trust in a cell's own ones; a recreated one has the trust the server gives. */
function losesTrust(cell: ISharedCell, { outputs, metadata }: JSONObject): boolean {
  return !isRunning(cell) && (metadata as JSONObject).trusted !== true && bringsUntrusted(cell, outputs);
}
