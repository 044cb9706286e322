/** Remembers trusted cells that leave a notebook, and trusts them when they come back. */

import type { ISharedCell, ISharedCodeCell, ISharedNotebook } from '@jupyter/ydoc';
import type { JSONObject, JSONValue } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

/** Most cells to remember in a notebook: one change may remove the outputs of many, and these may be large. */
const MOST_REMEMBERED = 500;
const MOST_OF_A_CELL = 5;

const trusted = new WeakMap<ISharedNotebook, JSONObject[]>();

/** Remember a cell that is deleted, or loses its outputs, if this page trusts it. */
export function rememberTrust(notebook: ISharedNotebook, cell: JSONObject): void {
  if ((cell.metadata as JSONObject).trusted === true) {
    const known = trusted.get(notebook) ?? [];
    const same = known.filter(({ id }) => id === cell.id);
    const [tooOld] = same.length < MOST_OF_A_CELL ? [] : same;
    trusted.set(notebook, [...known.filter(one => one !== tooOld), cell].slice(-MOST_REMEMBERED));
  }
}

/** The content of a new cell, trusted only if it equals a remembered cell: marks of the file or server do not count. */
export function withTrust(notebook: ISharedNotebook, content: JSONObject): JSONObject {
  const { trusted: _theirs, ...metadata } = (content.metadata ?? {}) as JSONObject;
  const isKnown = (trusted.get(notebook) ?? []).some(cell => isSame(cell, content));
  return { ...content, metadata: isKnown ? { ...metadata, trusted: true } : metadata };
}

/** Whether new outputs of a cell would inherit the trust in its own ones. */
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

/** Whether two cells are rendered alike: they have the same text, outputs and attachments. */
function isSame(one: JSONObject, other: JSONObject): boolean {
  return (['id', 'cell_type', 'source', 'outputs', 'attachments'] as const).every(name =>
    JSONExt.deepEqual(one[name] ?? null, other[name] ?? null)
  );
}
