/** Marks cells that are deleted, moved or converted, and shows ghosts of cells to come. */

import type { CellDiff, Change } from '../payloads';

import { element } from '../element';
import { linesBlock } from './inlineMarks';
import { linesOfSide, placed } from './placedHunks';

/** A cell of an open notebook, as far as marks need it. */
export interface IOpenCell {
  readonly node: HTMLElement;
  readonly model: { id: string; sharedModel: { getSource(): string } };
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

/** By their ids the proposals that no longer fit, and the cells that have another source by now or are gone. */
export function staleIn(
  changes: readonly Change[],
  source: (id: string) => string | undefined
): ReadonlyMap<string, readonly string[]> {
  const waiting = changes.filter(({ status }) => status === 'proposed');
  const others = waiting.map(({ id, diff }): [string, string[]] => {
    const cells = (diff.cells ?? []).filter(cell => !fits(cell, source(cell.cell_id)));
    return [id, cells.map(({ cell_id }) => cell_id)];
  });
  return new Map(others.filter(([, cells]) => cells.length));
}

function fits({ action, hunks }: CellDiff, source: string | undefined): boolean {
  if (action === 'insert' || source === undefined) {
    return action === 'insert';
  }
  if (action === 'delete') {
    return hunks.flatMap(hunk => linesOfSide(hunk, 'old')).join('\n') === source;
  }
  return action !== 'edit' || placed(hunks, source, 'old').every(({ blocks }) => blocks);
}
