/** Tells of changes in cells that collapsed headings hide. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ICellBox, IOpenCell } from './cellMarks';

import { element } from '../element';

/** Counts hidden cells for the collapsed heading above them, where they are told of. */
export class HiddenCells {
  /**
   * @param changed - called when other cells are hidden.
   */
  constructor(
    private _notebook: { readonly widgets: readonly IOpenCell[] },
    private _trans: TranslationBundle,
    private _changed: () => void
  ) {}

  /** Count exactly the cells with these ids. */
  follow(ids: ReadonlySet<string>): void {
    this._ids = ids;
    this._counts = this._counted();
    this._hides.disconnect();
    for (const { model, node } of this._notebook.widgets) {
      if (ids.has(model.id)) {
        this._hides.observe(node, { attributeFilter: ['class'] });
      }
    }
  }

  /** The note to show at a cell about those hidden below it; none if there are none. */
  notesAt(id: string): ICellBox[] {
    const count = this._counts.get(id);
    if (count === undefined) {
      return [];
    }
    const text = this._trans._n('Changes in %1 hidden cell', 'Changes in %1 hidden cells', count);
    return [{ key: text, before: false, make: () => element('div', 'jp-fstools-Review-note', text) }];
  }

  dispose(): void {
    this._hides.disconnect();
  }

  private _counted(): Map<string, number> {
    const found = new Map<string, number>();
    let above = '';
    for (const { isHidden, model } of this._notebook.widgets) {
      if (!isHidden) {
        above = model.id;
      } else if (this._ids.has(model.id)) {
        found.set(above, (found.get(above) ?? 0) + 1);
      }
    }
    return found;
  }

  private _onHides(): void {
    const counts = this._counted();
    if (JSON.stringify([...counts]) !== JSON.stringify([...this._counts])) {
      this._counts = counts;
      this._changed();
    }
  }

  private readonly _hides = new MutationObserver(() => this._onHides());
  private _ids: ReadonlySet<string> = new Set();
  private _counts = new Map<string, number>();
}
