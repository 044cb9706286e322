/** Computes which changes each cell of a notebook shows. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { CellDiff, Change } from '../payloads';
import type { ICellBox, IOpenCell } from './cellMarks';
import type { IMarker } from './reviewView';

import { element } from '../element';
import { formerPlaces, ghostOf, moves, predecessors, unnamedIn } from './cellMarks';
import { hunksOfCell } from './decisions';
import { textOf } from './placedHunks';

/** A box that a change shows at a cell. */
export interface IChangeBox extends ICellBox {
  change: string;
}

/** Parts of changes shown at one cell: diffs of its own, and boxes of inserted, moved or deleted cells. */
export interface IShownAt {
  edits: [Change, CellDiff][];
  boxes: IChangeBox[];
  classes: string[];
}

/**
 * Collects the parts to show at each cell, by its id; cells that show nothing are left out.
 *
 * @param cells - those that diffs name, by that name.
 */
export function shownAt(
  ids: readonly string[],
  cells: ReadonlyMap<string, IOpenCell>,
  changes: readonly Change[],
  movedOn: ReadonlyMap<string, ReadonlySet<string>>,
  marker: IMarker,
  trans: TranslationBundle
): Map<string, IShownAt> {
  const there = new Set(ids);
  const idOf = (name: string) => cells.get(name)?.model.id ?? name;
  const shown = new Map<string, IShownAt>();
  const at = (id: string): IShownAt => {
    const known = shown.get(id) ?? { edits: [], boxes: [], classes: [] };
    shown.set(id, known);
    return known;
  };
  for (const change of changes) {
    const waits = change.status === 'proposed';
    const diffs = change.diff.cells ?? [];
    const here = diffs.map(({ cell_id, follows, ...more }) => ({
      ...more,
      cell_id: idOf(cell_id),
      follows: follows && idOf(follows)
    }));
    const former = formerPlaces(ids, here);
    const coming = waits ? predecessors(ids, here) : new Map<string, string | null>();
    const unnamed = unnamedIn(change, cells);
    const named = diffs.filter(diff => !unnamed.includes(diff));
    for (const cell of named.filter(diff => !hunksOfCell(diff).every(name => marker.isKept(change, name)))) {
      const id = idOf(cell.cell_id);
      const isGone = waits && cell.action !== 'insert' && !there.has(id);
      const hosts = isGone || (!waits && cell.action === 'delete') ? former : coming;
      const host = hosts.has(id) ? hosts.get(id)! : id;
      const place = host ?? ids[0];
      if (place === undefined || !there.has(place)) {
        continue;
      }
      if (cell.action === 'edit' && cell.hunks.length && !isGone) {
        at(place).edits.push([change, cell]);
      }
      const hasMovedOn = hunksOfCell(cell).some(name => movedOn.get(change.id)?.has(name));
      const stands = { at: ids.indexOf(id), before: host === null, isGone, hasMovedOn };
      const boxes = boxesOf(change, cell, stands, marker, trans);
      at(place).boxes.push(...boxes.map(box => ({ ...box, change: change.id })));
      if (waits && moves(cell) && !isGone && (cell.action !== 'move' || place !== id)) {
        const note =
          cell.action === 'move'
            ? trans.__('%1: moves away', change.session)
            : trans.__('%1: moves and becomes cell %2', change.session, cell.index + 1);
        const make = () => element('div', 'jp-fstools-Review-note', note);
        at(id).boxes.push({ key: `from ${change.id}`, change: change.id, before: false, make });
      }
      if (cell.action === (waits ? 'delete' : 'insert') && !isGone) {
        at(id).classes.push(waits ? 'jp-fstools-mod-delete' : 'jp-fstools-mod-inserted');
      }
    }
  }
  return shown;
}

/** Boxes shown below a cell, or in place of a missing one, in addition to its marked lines. */
function boxesOf(
  change: Change,
  cell: CellDiff,
  { at, before, isGone, hasMovedOn }: { at: number; before: boolean; isGone: boolean; hasMovedOn: boolean },
  marker: IMarker,
  trans: TranslationBundle
): ICellBox[] {
  const waits = change.status === 'proposed';
  const names = hunksOfCell(cell).filter(name => waits || !marker.isKept(change, name));
  if (cell.action === 'edit' && cell.hunks.length && names.length < 2 && !isGone) {
    return [];
  }
  const notes = {
    edit: cell.hunks.length ? trans.__('all of this cell') : trans.__('outputs or metadata change'),
    insert: waits ? '' : trans.__('new cell'),
    delete: waits ? trans.__('deletes this cell') : '',
    move: waits ? trans.__('cell %1 moves here', at + 1) : trans.__('moved here'),
    convert: trans.__('becomes a %1 cell', cell.cell_type),
    clear_outputs: waits ? trans.__('its outputs are cleared') : trans.__('its outputs were cleared')
  };
  const proposed = waits && cell.action === 'insert' && cell.hunks.length ? textOf(cell.hunks, 'new') : null;
  const shown = { note: notes[cell.action], proposed, hasOld: false, movedOn: hasMovedOn };
  const controls = () => marker.controls(change, names, shown);
  // The place of a cell that stays is left out: a reason that is being typed would be lost when it changes.
  const place = cell.action === 'move' ? at : '';
  const key = [...names.map(name => marker.key(change, name)), place, isGone, hasMovedOn].join();
  if (isGone || (waits && hasMovedOn && cell.action === 'delete')) {
    const label = isGone ? trans.__('A cell that is no longer there') : trans.__('The cell as it was to be deleted');
    return [{ key, before, make: () => ghostOf(cell, label, controls()) }];
  }
  if (cell.action !== (waits ? 'insert' : 'delete')) {
    const make = () => {
      const box = element('div', 'jp-fstools-Review-note');
      box.append(controls());
      return box;
    };
    return [{ key, before, make }];
  }
  const label = waits ? trans.__('New %1 cell', cell.cell_type) : trans.__('Deleted %1 cell', cell.cell_type);
  return [{ key, before, make: () => ghostOf(cell, label, controls()) }];
}
