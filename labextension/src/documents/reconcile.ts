/** Makes a notebook's model what its file says, cell by cell. */

import type { ISharedCell, ISharedCodeCell, ISharedNotebook, ISharedText, SharedCell } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

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
  model.transact(() => {
    if (named) {
      arrange(model, wanted);
    }
    wanted.forEach((cell, index) => bringUp(model, index, cell));
    model.setMetadata((file.metadata ?? {}) as never);
  }, false);
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
function arrange(model: ISharedNotebook, wanted: readonly JSONObject[]): void {
  const ids = new Set(wanted.map(cell => cell.id));
  for (let at = model.cells.length - 1; at >= 0; at--) {
    if (!ids.has(model.cells[at].id)) {
      model.deleteCell(at);
    }
  }
  wanted.forEach((cell, at) => {
    const from = model.cells.findIndex(one => one.id === cell.id);
    if (from < 0) {
      model.insertCell(at, cell as unknown as SharedCell.Cell);
    } else if (from !== at) {
      model.moveCell(from, at);
    }
  });
}

function bringUp(model: ISharedNotebook, index: number, wanted: JSONObject): void {
  const cell = model.cells[index];
  if (cell.cell_type !== wanted.cell_type) {
    model.deleteCell(index);
    model.insertCell(index, wanted as unknown as SharedCell.Cell);
    return;
  }
  const source = wanted.source as string[] | string;
  reconcileText(cell, typeof source === 'string' ? source : source.join(''));
  if (cell.cell_type === 'code') {
    bringUpOutputs(cell as ISharedCodeCell, wanted);
  }
  const metadata = { ...(wanted.metadata as JSONObject) };
  delete metadata.trusted; // Whether to trust an output is the server's word to this page.
  bringUpMetadata(cell, metadata);
}

function bringUpOutputs(cell: ISharedCodeCell, wanted: JSONObject): void {
  if (!JSONExt.deepEqual(cell.getOutputs() as never, wanted.outputs ?? [])) {
    cell.setOutputs((wanted.outputs ?? []) as never[]);
  }
  const count = (wanted.execution_count ?? null) as number | null;
  if (cell.execution_count !== count) {
    cell.execution_count = count;
  }
}

function bringUpMetadata(cell: ISharedCell, wanted: JSONObject): void {
  const { trusted: _trusted, ...now } = cell.getMetadata() as JSONObject;
  if (!JSONExt.deepEqual(now, wanted)) {
    for (const key of Object.keys(now)) {
      if (!(key in wanted)) {
        cell.deleteMetadata(key);
      }
    }
    cell.setMetadata(wanted);
  }
}
