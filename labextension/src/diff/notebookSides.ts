/** Aligns the cells of a notebook before and after a change. */

import type { JSONObject, JSONValue } from '@lumino/coreutils';

import { JSONExt } from '@lumino/coreutils';

/** A cell as a notebook's file has it. */
export interface IFileCell extends JSONObject {
  cell_type: string;
  source: string | string[];
  metadata: JSONObject;
}

/** A cell before and after a change; `index` is 0-based in the new notebook, or in the old one if it is deleted. */
export interface ICellSides {
  id: string;
  old: IFileCell | null;
  new: IFileCell | null;
  index: number;
  isMoved: boolean;
}

const PARTS = ['source', 'outputs', 'metadata', 'attachments', 'cell_type'] as const;

/** The cells of a notebook's text, none where there is no text; null where it is no notebook. */
export function cellsIn(text: string | null): IFileCell[] | null {
  if (!text?.trim()) {
    return [];
  }
  try {
    const { cells } = JSON.parse(text) as { cells?: unknown };
    return Array.isArray(cells) ? (cells as IFileCell[]) : null;
  } catch {
    return null;
  }
}

/** Pairs cells by id, in the new notebook's order with deleted cells where they were; null if a cell has no id. */
export function alignedCells(before: readonly IFileCell[], after: readonly IFileCell[]): ICellSides[] | null {
  if ([...before, ...after].some(cell => typeof cell.id !== 'string')) {
    return null;
  }
  const ids = (cells: readonly IFileCell[]) => cells.map(cell => cell.id as string);
  const [oldIds, newIds] = [ids(before), ids(after)];
  const [oldPlace, newPlace] = [oldIds, newIds].map(all => new Map(all.map((id, index) => [id, index])));
  const stayed = new Set(longestRising(newIds.flatMap(id => oldPlace.get(id) ?? [])));
  const pairs: ICellSides[] = newIds.map((id, index) => {
    const was = oldPlace.get(id);
    const isMoved = was !== undefined && !stayed.has(was);
    return { id, old: was === undefined ? null : before[was], new: after[index], index, isMoved };
  });
  let at = 0;
  oldIds.forEach((id, index) => {
    const place = newPlace.get(id);
    if (place === undefined) {
      pairs.splice(at++, 0, { id, old: before[index], new: null, index, isMoved: false });
    } else if (stayed.has(index)) {
      at = pairs.findIndex(pair => pair.id === id) + 1;
    }
  });
  return pairs;
}

/** A cell's source as one text. */
export function sourceOf(cell: IFileCell | null): string {
  return cell === null ? '' : [cell.source].flat().join('');
}

/** Whether the change alters a part of a cell. */
export function differs({ old, new: now }: ICellSides, part: (typeof PARTS)[number]): boolean {
  const [one, other] = [old, now].map(cell => partOf(cell, part));
  return !JSONExt.deepEqual(one, other);
}

/** Whether the change inserts, deletes, moves or alters a cell. */
export function isChanged(pair: ICellSides): boolean {
  return pair.isMoved || pair.old === null || pair.new === null || PARTS.some(part => differs(pair, part));
}

function partOf(cell: IFileCell | null, part: string): JSONValue {
  if (cell === null) {
    return part === 'outputs' ? [] : ['metadata', 'attachments'].includes(part) ? {} : '';
  }
  const none = part === 'attachments' ? {} : [];
  return part === 'source' ? sourceOf(cell) : ((cell[part] as JSONValue | undefined) ?? none);
}

/** The longest increasing subsequence of numbers. */
export function longestRising(numbers: readonly number[]): number[] {
  const ends: number[] = [];
  const before: number[] = [];
  numbers.forEach((number, index) => {
    let low = 0;
    for (let high = ends.length; low < high;) {
      const middle = (low + high) >> 1;
      [low, high] = numbers[ends[middle]] < number ? [middle + 1, high] : [low, middle];
    }
    before[index] = low > 0 ? ends[low - 1] : -1;
    ends[low] = index;
  });
  const found: number[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at]) {
    found.unshift(numbers[at]);
  }
  return found;
}
