/** Marks cells that are deleted, moved or converted, and shows ghosts of cells to come. */

import type { CellDiff, Change } from '../payloads';

import { element } from '../element';
import { hunkName, hunksOfCell } from './decisions';
import { inEditor } from './editorLines';
import { linesBlock } from './inlineMarks';
import { placedInCell, type Side, sideOf, textOf } from './placedHunks';

/** A cell of an open notebook, as far as marks need it. */
export interface IOpenCell {
  readonly node: HTMLElement;
  readonly model: { id: string; type: string; sharedModel: { getSource(): string } };
  readonly editor: unknown;
  readonly isDisposed: boolean;
  /** Set below a collapsed heading. */
  readonly isHidden?: boolean;
  readonly ready?: Promise<void>;
}

/** A box to show at a cell: before its content or after it. */
export interface ICellBox {
  key: string;
  before: boolean;
  make(): HTMLElement;
}

const BOX = 'jp-fstools-Review-box';

/** Give a cell exactly these boxes and classes, and remove earlier ones. */
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

/** Draw a change's lines of a cell that is not in the notebook (yet, or any more), with its buttons below. */
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

/** Whether a cell moves, whatever else changes in it. */
export function moves({ action, moved_from }: CellDiff): boolean {
  return action === 'move' || moved_from !== null;
}

/** Maps the id of each cell to insert or move to the id of the cell it will follow; null for the beginning. */
export function predecessors(ids: readonly string[], diffs: readonly CellDiff[]): Map<string, string | null> {
  const leaving = new Set(diffs.filter(cell => cell.action === 'delete' || moves(cell)).map(cell => cell.cell_id));
  const staying = ids.filter(id => !leaving.has(id));
  const coming = diffs.filter(comes);
  // Cells that come one after another are all shown at the staying cell above them.
  const hosts = new Map<string, string | null>([['', null], ...staying.map((id): [string, string] => [id, id])]);
  const found = new Map<string, string | null>();
  [...coming]
    .sort((one, other) => one.index - other.index)
    .forEach((cell, before) => {
      const known = cell.follows === null ? undefined : hosts.get(cell.follows);
      // The person may have deleted the cell that it was to follow.
      const atIndex = staying[Math.min(cell.index - before, staying.length) - 1] ?? null;
      const host = known === undefined ? atIndex : known;
      hosts.set(cell.cell_id, host);
      // A cell that changes and moves shows its change where it is.
      if (cell.action === 'insert' || cell.action === 'move') {
        found.set(cell.cell_id, host);
      }
    });
  return found;
}

/** Maps the id of each changed cell, as if it were gone, to that of the cell it followed; null for the beginning. */
export function formerPlaces(ids: readonly string[], diffs: readonly CellDiff[]): Map<string, string | null> {
  const byId = new Map(diffs.map(cell => [cell.cell_id, cell]));
  const there = new Set(ids);
  const found = new Map<string, string | null>();
  const placeOf = (cell: CellDiff): string | null => {
    const above = byId.get(cell.follows ?? '');
    // What a deleted cell followed may have moved since, and what another one follows may not have moved yet.
    const stays = !above || !moves(above);
    if (cell.follows === '' || (there.has(cell.follows!) && stays)) {
      return cell.follows || null;
    }
    if (above && (stays || cell.action !== 'delete')) {
      return found.has(above.cell_id) ? found.get(above.cell_id)! : placeOf(above);
    }
    return ids[Math.min(cell.index, ids.length) - 1] ?? null;
  };
  // From the beginning, so that the place of the cell above is known.
  for (const cell of [...diffs].sort((one, other) => one.index - other.index)) {
    found.set(cell.cell_id, placeOf(cell));
  }
  return found;
}

/** The parts of a cell that decide whether a change still fits it. */
export interface ICellState {
  type: string;
  source: string;
}

export function stateOf(cell: IOpenCell): ICellState {
  return { type: cell.model.type, source: sourceOf(cell) };
}

/** A cell's source with line endings as its editor and the diffs have them. */
export function sourceOf({ model }: IOpenCell): string {
  return inEditor(model.sharedModel.getSource());
}

/**
 * By id of change, the names of hunks whose cells are no longer as it expects them, or as it left them.
 *
 * @param cells - those that diffs name, by that name.
 */
export function movedOnIn(
  changes: readonly Change[],
  cells: ReadonlyMap<string, IOpenCell>,
  isKept: (change: Change, name: string) => boolean
): ReadonlyMap<string, ReadonlySet<string>> {
  const stateAt = (name: string) => {
    const cell = cells.get(name);
    return cell && stateOf(cell);
  };
  const others = changes.map((change): [string, Set<string>] => {
    const diffs = change.diff.cells ?? [];
    const unnamed = unnamedIn(change, cells);
    const judged = diffs.filter(diff => !unnamed.includes(diff));
    const names = judged.flatMap(diff => movedOn(diff, stateAt(diff.cell_id), sideOf(change)));
    if (names.length && change.status === 'proposed') {
      // The server's answer, which is about the whole proposal, tells nothing about these any more.
      names.push(...diffs.filter(diff => comes(diff) && !hasPlace(diff, diffs, cells)).flatMap(hunksOfCell));
    }
    return [change.id, new Set(names.filter(name => !isKept(change, name)))];
  });
  return new Map(others.filter(([, names]) => names.size));
}

/** An id that the server makes up for a cell whose file has none; the page gives such a cell another one. */
const MADE_UP = /^auto-[0-9a-f]{12}(-|$)/;

/** Whether a cell may have another id in the page than a diff gives it. */
export function isUnnamed({ cell_id, duplicate }: CellDiff): boolean {
  return duplicate || MADE_UP.test(cell_id);
}

/** The cells of a change that a notebook has, or had, without telling by a name which of its cells they are. */
export function unnamedIn({ diff, status }: Change, cells: ReadonlyMap<string, unknown>): CellDiff[] {
  const absent = status === 'proposed' ? 'insert' : 'delete';
  return (diff.cells ?? []).filter(cell => cell.action !== absent && isUnnamed(cell) && !cells.has(cell.cell_id));
}

/** The ids of changed cells that several cells of the notebook have. */
export function duplicatesIn(changes: readonly Change[]): Set<string> {
  const cells = changes.flatMap(({ diff }) => diff.cells ?? []);
  return new Set(cells.filter(({ duplicate }) => duplicate).map(({ cell_id }) => cell_id));
}

/** Whether all hunks of a cell's diff fit a cell; false for a diff without any. */
export function fitsWhole(diff: CellDiff, cell: ICellState, side: Side): boolean {
  return diff.hunks.length > 0 && movedOn(diff, cell, side).length === 0;
}

/** The names of the cells that a change inserts or moves. */
export function comingIn({ diff }: Change): Set<string> {
  return new Set((diff.cells ?? []).filter(comes).flatMap(hunksOfCell));
}

function comes(cell: CellDiff): boolean {
  return cell.action === 'insert' || moves(cell);
}

/** Whether the cell is still there below which one was to stand, cells that come with it aside. */
function hasPlace({ follows }: CellDiff, diffs: readonly CellDiff[], cells: ReadonlyMap<string, unknown>): boolean {
  const above = diffs.find(diff => comes(diff) && diff.cell_id === follows);
  return above ? hasPlace(above, diffs, cells) : follows === '' || (follows !== null && cells.has(follows));
}

/** The names of one cell's hunks that no longer fit it; all of them where the cell is decided as a whole. */
function movedOn(diff: CellDiff, cell: ICellState | undefined, side: Side): string[] {
  const { action, cell_id, cell_type, hunks } = diff;
  if (action === 'edit' && cell?.type === cell_type) {
    const gone = placedInCell(hunks, cell.source, side).filter(({ blocks }) => !blocks);
    return gone.map(({ position }) => hunkName(position, cell_id));
  }
  const fits = side === 'old' ? fitsProposed : fitsMade;
  return fits(diff, cell) ? [] : hunksOfCell(diff);
}

function fitsProposed({ action, cell_type, hunks }: CellDiff, cell: ICellState | undefined): boolean {
  if (action === 'insert' || cell === undefined) {
    return action === 'insert';
  }
  if (action === 'delete') {
    return cell.type === cell_type && textOf(hunks, 'old') === cell.source;
  }
  const isOfType = action === 'convert' ? cell.type !== cell_type : action !== 'edit';
  return isOfType && placedInCell(hunks, cell.source, 'old').every(({ blocks }) => blocks);
}

function fitsMade({ action, cell_type, hunks }: CellDiff, cell: ICellState | undefined): boolean {
  if (action === 'delete' || cell === undefined) {
    return action === 'delete' && cell === undefined;
  }
  return action === 'insert'
    ? cell.type === cell_type && textOf(hunks, 'new') === cell.source
    : action !== 'edit' && placedInCell(hunks, cell.source, 'new').every(({ blocks }) => blocks);
}
