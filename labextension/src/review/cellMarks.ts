/** Marks cells that are deleted, moved or converted, and shows ghosts of cells to come. */

import type { CellDiff, Change, DiffHunk } from '../payloads';

import { element } from '../element';
import { hunkName } from './decisions';
import { linesBlock } from './inlineMarks';
import { linesOfSide, placed } from './placedHunks';

/** A cell of an open notebook, as far as marks need it. */
export interface IOpenCell {
  readonly node: HTMLElement;
  readonly model: { id: string; type: string; sharedModel: { getSource(): string } };
  readonly editor: unknown;
  readonly isDisposed: boolean;
  readonly ready?: Promise<void>;
}

/** A box to show at a cell: before its content or after it. */
export interface ICellBox {
  key: string;
  before: boolean;
  make(): HTMLElement;
}

const BOX = 'jp-fstools-Review-box';

/** Let a cell have these boxes and classes, and none of earlier ones. */
export function markCell(cell: IOpenCell, boxes: readonly ICellBox[], classes: readonly string[]): void {
  for (const name of ['jp-fstools-mod-delete', 'jp-fstools-mod-inserted']) {
    cell.node.classList.toggle(name, classes.includes(name));
  }
  const there = [...cell.node.querySelectorAll<HTMLElement>(`:scope > .${BOX}`)];
  const wanted = boxes.map(({ key }) => key);
  there.filter(box => !wanted.includes(box.dataset.key!)).forEach(box => box.remove());
  for (const { key, before, make } of boxes) {
    if (!there.some(box => box.dataset.key === key)) {
      const box = make();
      box.classList.add(BOX);
      box.dataset.key = key;
      cell.node.insertAdjacentElement(before ? 'afterbegin' : 'beforeend', box);
    }
  }
}

/** Draw what a change has of a cell that is not in the notebook (yet, or any more), and the buttons below it. */
export function ghostOf(cell: CellDiff, label: string, controls: HTMLElement): HTMLElement {
  const box = element('div', 'jp-fstools-Review-ghost');
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', label);
  const sides = (['remove', 'add'] as const).map(kind => {
    const rows = cell.hunks.flatMap(hunk => hunk.rows.filter(row => row.kind === kind));
    return { kind, lines: rows.map(row => row.text) };
  });
  const shown = sides.filter(({ lines }) => lines.length).map(({ lines, kind }) => linesBlock(lines, kind));
  box.append(element('div', 'jp-fstools-Review-caption', label), ...shown, controls);
  return box;
}

/** After which cell each cell that comes will stand, by cell id; null for the beginning. */
export function predecessors(ids: readonly string[], diffs: readonly CellDiff[]): Map<string, string | null> {
  const leaving = new Set(diffs.filter(({ action }) => ['delete', 'move'].includes(action)).map(cell => cell.cell_id));
  const order = ids.filter(id => !leaving.has(id));
  const staying = new Set(order);
  const coming = diffs.filter(({ action }) => action === 'insert' || action === 'move');
  const found = new Map<string, string | null>();
  for (const cell of [...coming].sort((one, other) => one.index - other.index)) {
    const at = Math.min(cell.index, order.length);
    // What comes too is shown with the same cell, below it.
    let host = at - 1;
    while (host >= 0 && !staying.has(order[host])) {
      host--;
    }
    found.set(cell.cell_id, order[host] ?? null);
    order.splice(at, 0, cell.cell_id);
  }
  return found;
}

/** After which cell each deleted cell stood, by its id, as far as the others still stand there. */
export function formerPlaces(ids: readonly string[], diffs: readonly CellDiff[]): Map<string, string | null> {
  const deleted = diffs.filter(({ action }) => action === 'delete');
  return new Map(deleted.map(cell => [cell.cell_id, placeOf(cell, ids)]));
}

/** After which cell the place of a cell is that is not there; null for the beginning. */
export function placeOf(cell: CellDiff, ids: readonly string[]): string | null {
  return ids[Math.min(cell.index, ids.length) - 1] ?? null;
}

/** A cell as far as a change may still fit it. */
export interface ICellState {
  type: string;
  source: string;
}

/** By the ids of changes the cells that are no longer as these expect them, or as they left them. */
export function movedOnIn(
  changes: readonly Change[],
  cellOf: (id: string) => ICellState | undefined,
  isKept: (change: Change, name: string) => boolean
): ReadonlyMap<string, readonly string[]> {
  const others = changes.map((change): [string, string[]] => {
    const isLeft = (cell: CellDiff, position: number) => !isKept(change, hunkName(position, cell.cell_id));
    const fits = change.status === 'proposed' ? fitsProposed : fitsMade;
    const cells = (change.diff.cells ?? []).filter(
      cell => !fits(cell, cellOf(cell.cell_id), position => isLeft(cell, position))
    );
    return [change.id, cells.map(({ cell_id }) => cell_id)];
  });
  return new Map(others.filter(([, cells]) => cells.length));
}

function fitsProposed({ action, cell_type, hunks }: CellDiff, cell: ICellState | undefined): boolean {
  if (action === 'insert' || cell === undefined) {
    return action === 'insert';
  }
  if (action === 'delete') {
    return cell.type === cell_type && sideOf(hunks, 'old') === cell.source;
  }
  const isOfType = action === 'convert' ? cell.type !== cell_type : action !== 'edit' || cell.type === cell_type;
  return isOfType && placed(hunks, cell.source, 'old').every(({ blocks }) => blocks);
}

function fitsMade(
  { action, cell_type, hunks }: CellDiff,
  cell: ICellState | undefined,
  isLeft: (position: number) => boolean
): boolean {
  if (action === 'delete' || cell === undefined) {
    return action === 'delete' && cell === undefined;
  }
  return action === 'insert'
    ? cell.type === cell_type && sideOf(hunks, 'new') === cell.source
    : placed(hunks, cell.source, 'new').every(({ blocks, position }) => blocks || !isLeft(position));
}

function sideOf(hunks: readonly DiffHunk[], side: 'old' | 'new'): string {
  return hunks.flatMap(hunk => linesOfSide(hunk, side)).join('\n');
}
