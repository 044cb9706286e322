/** Remembers what was trusted in this page, and is to be so again where it comes back. */

import type { ISharedCell, ISharedCodeCell, ISharedNotebook } from '@jupyter/ydoc';
import type { JSONObject, JSONValue } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

/** One change may take the outputs of many cells, and they may be large. */
const MOST_REMEMBERED = 500;
const MOST_OF_A_CELL = 5;

const trusted = new WeakMap<ISharedNotebook, JSONObject[]>();

/** Remember a cell that is deleted, or loses its outputs, if the page's person trusts it. */
export function rememberTrust(notebook: ISharedNotebook, cell: JSONObject): void {
  if ((cell.metadata as JSONObject).trusted === true) {
    const known = trusted.get(notebook) ?? [];
    const same = known.filter(({ id }) => id === cell.id);
    const [tooOld] = same.length < MOST_OF_A_CELL ? [] : same;
    trusted.set(notebook, [...known.filter(one => one !== tooOld), cell].slice(-MOST_REMEMBERED));
  }
}

/** A cell that comes (back), trusted only if it is one of those that were: no file's word counts, nor the server's. */
export function withTrust(notebook: ISharedNotebook, content: JSONObject): JSONObject {
  const { trusted: _theirs, ...metadata } = (content.metadata ?? {}) as JSONObject;
  const isKnown = (trusted.get(notebook) ?? []).some(cell => isSame(cell, content));
  return { ...content, metadata: isKnown ? { ...metadata, trusted: true } : metadata };
}

/** Whether outputs that a cell gets would have the trust that it has for its own. */
export function bringsUntrusted(cell: ISharedCell, outputs: JSONValue | undefined): boolean {
  return (
    cell.cell_type === 'code' &&
    cell.getMetadata('trusted') === true &&
    ((outputs ?? []) as JSONObject[]).length > 0 &&
    !JSONExt.deepEqual((cell as ISharedCodeCell).getOutputs() as never, outputs!)
  );
}

/** Whether a cell had these outputs when it was trusted. */
export function hadTrusted(notebook: ISharedNotebook, { id }: ISharedCell, outputs: JSONValue): boolean {
  return (trusted.get(notebook) ?? []).some(cell => cell.id === id && JSONExt.deepEqual(cell.outputs ?? [], outputs));
}

/** Whether what is rendered of two cells is the same: the text, the outputs, the attachments. */
function isSame(one: JSONObject, other: JSONObject): boolean {
  return (['id', 'cell_type', 'source', 'outputs', 'attachments'] as const).every(name =>
    JSONExt.deepEqual(one[name] ?? null, other[name] ?? null)
  );
}
