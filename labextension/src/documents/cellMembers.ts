/** Sets a cell's members other than its text, where they differ. */

import type { ISharedAttachmentsCell, ISharedCell, ISharedCodeCell } from '@jupyter/ydoc';
import type { JSONObject, JSONValue } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

import { isRunning } from './cellList';

/** Set a member by its name in the file; false where it is left alone, e.g. the outputs of a running cell. */
export function setMember(cell: ISharedCell, name: string, value: JSONValue | undefined): boolean {
  if (name === 'metadata') {
    setMetadata(cell, (value ?? {}) as JSONObject);
    return true;
  }
  if (name === 'attachments' && 'setAttachments' in cell) {
    const holder = cell as ISharedAttachmentsCell;
    if (!JSONExt.deepEqual((holder.getAttachments() ?? {}) as never, value ?? {})) {
      holder.setAttachments((value ?? undefined) as never);
    }
    return true;
  }
  return cell.cell_type === 'code' && !isRunning(cell) && setOutput(cell as ISharedCodeCell, name, value);
}

function setOutput(cell: ISharedCodeCell, name: string, value: JSONValue | undefined): boolean {
  if (name === 'outputs' && !JSONExt.deepEqual(cell.getOutputs() as never, value ?? [])) {
    cell.setOutputs((value ?? []) as never[]);
  } else if (name === 'execution_count' && cell.execution_count !== (value ?? null)) {
    cell.execution_count = (value ?? null) as number | null;
  }
  return true;
}

/** Set all metadata except the trust, which this page decides rather than a file. */
function setMetadata(cell: ISharedCell, wanted: JSONObject): void {
  const { trusted: _now, ...now } = cell.getMetadata() as JSONObject;
  const { trusted: _wanted, ...metadata } = wanted;
  if (!JSONExt.deepEqual(now, metadata)) {
    for (const key of Object.keys(now)) {
      if (!(key in metadata)) {
        cell.deleteMetadata(key);
      }
    }
    cell.setMetadata(metadata);
  }
}
