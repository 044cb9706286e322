/** Remembers which deleted cells were trusted in this page. */

import type { ISharedNotebook } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

const MOST_REMEMBERED = 50;

const trusted = new WeakMap<ISharedNotebook, JSONObject[]>();

/** Remember a cell that is deleted, if the page's person trusts it. */
export function rememberTrust(notebook: ISharedNotebook, cell: JSONObject): void {
  if ((cell.metadata as JSONObject).trusted === true) {
    trusted.set(notebook, [...(trusted.get(notebook) ?? []), cell].slice(-MOST_REMEMBERED));
  }
}

/** A cell that comes (back), trusted only if it is one of those that were: no file's word counts, nor the server's. */
export function withTrust(notebook: ISharedNotebook, content: JSONObject): JSONObject {
  const { trusted: _theirs, ...metadata } = (content.metadata ?? {}) as JSONObject;
  const isKnown = (trusted.get(notebook) ?? []).some(cell => isSame(cell, content));
  return { ...content, metadata: isKnown ? { ...metadata, trusted: true } : metadata };
}

/** Whether what is rendered of two cells is the same: the text, the outputs, the attachments. */
function isSame(one: JSONObject, other: JSONObject): boolean {
  return (['id', 'cell_type', 'source', 'outputs', 'attachments'] as const).every(name =>
    JSONExt.deepEqual(one[name] ?? null, other[name] ?? null)
  );
}
