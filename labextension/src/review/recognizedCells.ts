/** Recognizes the cells without ids of their own that changes are about. */

import type { Change } from '../payloads';

import { fitsWhole, type ICellState, type IOpenCell, stateOf, unnamedIn } from './cellMarks';
import { sideOf } from './placedHunks';

/** Most comparisons of a cell with a diff, so that drawing is not held up. */
const MOST_COMPARED = 100_000;

/** Recognizes cells that alone fit a change; a recognized cell stays so, whatever the person types in it. */
export class RecognizedCells {
  /**
   * By the name that changes give a cell, the id that it has in this page.
   *
   * @param cells - those of the notebook, by id.
   * @param own - those of them whose ids are theirs alone in the file, too.
   */
  among(
    cells: ReadonlyMap<string, IOpenCell>,
    changes: readonly Change[],
    own: ReadonlyMap<string, IOpenCell>
  ): Map<string, string> {
    const known = this._known;
    this._known = new Map();
    const found = new Map<string, Set<string>>();
    let states: [id: string, state: ICellState][] | null = null;
    for (const change of changes) {
      const unnamed = unnamedIn(change, own);
      for (const diff of unnamed) {
        const key = `${change.id} ${diff.index} ${diff.cell_id}`;
        let id = known.get(key);
        if ((id === undefined || !cells.has(id)) && unnamed.length * cells.size <= MOST_COMPARED) {
          states ??= [...cells].map(([one, cell]) => [one, stateOf(cell)]);
          const fitting = states.filter(([, state]) => fitsWhole(diff, state, sideOf(change)));
          id = fitting.length === 1 ? fitting[0][0] : undefined;
        }
        if (id !== undefined && cells.has(id)) {
          this._known.set(key, id);
          found.set(diff.cell_id, (found.get(diff.cell_id) ?? new Set()).add(id));
        }
      }
    }
    // Cells that get the same source in two proposals have the same name there.
    const single = [...found].filter(([, ids]) => ids.size === 1);
    return new Map(single.map(([name, [id]]) => [name, id]));
  }

  /** Ids by change and name. */
  private _known = new Map<string, string>();
}
