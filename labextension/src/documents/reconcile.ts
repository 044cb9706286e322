/** Makes an open notebook what its file on disk says, cell by cell. */

import type { ISharedCell, ISharedCodeCell, ISharedNotebook, ISharedText } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

import { transactInPlace } from './carets';
import { CellList, isRunning } from './cellList';
import { setMember } from './cellMembers';

/** Bring a notebook up to its file, touching what differs; false where that takes a reload. */
export function reconcileNotebook(model: ISharedNotebook, file: JSONObject): boolean {
  const wanted = file.cells as JSONObject[] | undefined;
  if (!wanted || file.nbformat !== model.nbformat || file.nbformat_minor !== model.nbformat_minor) {
    return false;
  }
  const named = wanted.every(cell => typeof cell.id === 'string');
  if (!named && wanted.length !== model.cells.length) {
    return false;
  }
  const list = new CellList(model);
  transactInPlace(model, () => {
    if (named) {
      arrange(list, wanted);
    }
    wanted.forEach((cell, index) => bringUp(list, index, cell));
    model.setMetadata((file.metadata ?? {}) as never);
  });
  return true;
}

/** Replace what differs between a text and another one. */
export function reconcileText(model: Pick<ISharedText, 'getSource' | 'updateSource'>, wanted: string): void {
  const source = model.getSource();
  if (source === wanted) {
    return;
  }
  const most = Math.min(source.length, wanted.length);
  let head = 0;
  while (head < most && source[head] === wanted[head]) {
    head++;
  }
  let tail = 0;
  while (tail < most - head && source[source.length - 1 - tail] === wanted[wanted.length - 1 - tail]) {
    tail++;
  }
  model.updateSource(head, source.length - tail, wanted.slice(head, wanted.length - tail));
}

/** Have the wanted cells in their order, the new ones as they are in the file. */
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
  if (cell.cell_type !== wanted.cell_type || bringsUntrusted(cell, wanted)) {
    list.delete(index);
    list.insert(index, wanted);
    return;
  }
  const source = wanted.source as string[] | string;
  reconcileText(cell, typeof source === 'string' ? source : source.join(''));
  for (const name of ['outputs', 'execution_count', 'metadata', 'attachments']) {
    setMember(cell, name, wanted[name]);
  }
}

/** Outputs that a program wrote must not have the trust that the cell had for its own: a new cell has the server's. */
function bringsUntrusted(cell: ISharedCell, { outputs, metadata }: JSONObject): boolean {
  return (
    cell.cell_type === 'code' &&
    !isRunning(cell) &&
    (outputs as JSONObject[]).length > 0 &&
    (metadata as JSONObject).trusted !== true &&
    cell.getMetadata('trusted') === true &&
    !JSONExt.deepEqual((cell as ISharedCodeCell).getOutputs() as never, outputs!)
  );
}
