/** Draws a notebook's diff cell by cell. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Parser } from '@lezer/common';

import { Panel, Widget } from '@lumino/widgets';

import type { IDiffParts } from './diffParts';
import { element } from '../element';
import { Pace } from './pace';
import type { CellDiff, DiffHunk, FileDiff } from '../payloads';
import { renderedButton, RenderedChange } from './renderedChange';
import { showAllButton } from './showAll';
import { parserOf } from './syntaxColours';
import { TextDiff } from './textDiff';

const CELLS_AT_FIRST = 40;
const ROWS_AT_FIRST = 100;

/** Shows each cell that changed, in the notebook's order. */
export class NotebookDiff extends Panel {
  constructor(diff: FileDiff, parts: IDiffParts) {
    super();
    this.addClass('jp-fstools-NotebookDiff');
    this._list.addClass('jp-fstools-NotebookDiff-cells');
    this._list.node.setAttribute('role', 'list');
    this._list.node.setAttribute('aria-label', parts.trans.__('Changed cells of %1', diff.path));
    this._diff = diff;
    this._parts = parts;
    if (diff.hunks.length) {
      const { truncated } = diff;
      this.addWidget(new CarriedLines(diff.hunks, parts.trans.__('Around the cells'), { ...parts, truncated }));
    }
    this.addWidget(this._list);
    this._append(CELLS_AT_FIRST);
    if (this._rest.length) {
      const label = parts.trans.__('Show all (%1 cells)', this._cells.length.toLocaleString());
      this.node.append(showAllButton(label, this._list.node, () => this.showAll()));
    }
  }

  /** Show every cell, a few at a time. */
  async showAll(): Promise<void> {
    const pace = new Pace();
    while (this._rest.length && !this.isDisposed) {
      this._append(1);
      await pace.breathe();
    }
  }

  private _append(count: number): void {
    const { truncated } = this._diff;
    const from = this._list.widgets.length;
    for (const cell of this._cells.slice(from, from + count)) {
      this._list.addWidget(new CellChange(cell, { ...this._parts, truncated, loadParser: () => this._parserOf(cell) }));
    }
  }

  private get _cells(): readonly CellDiff[] {
    return this._diff.cells ?? [];
  }

  private get _rest(): readonly CellDiff[] {
    return this._cells.slice(this._list.widgets.length);
  }

  private _parserOf(cell: CellDiff): Promise<Parser | null> {
    const name = cell.cell_type === 'code' ? (this._diff.language ?? '') : cell.cell_type;
    if (!this._parsers.has(name)) {
      this._parsers.set(name, parserOf(this._parts.languages, { name }));
    }
    return this._parsers.get(name)!;
  }

  private readonly _list = new Panel();
  private readonly _diff: FileDiff;
  private readonly _parts: IDiffParts;
  private readonly _parsers = new Map<string, Promise<Parser | null>>();
}

interface ILinesParts extends IDiffParts {
  truncated: boolean;
}

interface ICellParts extends ILinesParts {
  loadParser: () => Promise<Parser | null>;
}

/** Changes to a notebook other than to sources, e.g. to outputs or metadata: lines of JSON below a title. */
class CarriedLines extends Panel {
  constructor(hunks: readonly DiffHunk[], title: string, { truncated, languages, trans }: ILinesParts) {
    super();
    this.addWidget(new Widget({ node: element('p', 'jp-fstools-Diff-note', title) }));
    const loadParser = () => parserOf(languages, { name: 'json' });
    this.addWidget(new TextDiff({ hunks, truncated, name: title, loadParser, trans, rowsAtFirst: ROWS_AT_FIRST }));
  }
}

/** One cell: what happened to it, and its changed lines. */
class CellChange extends Panel {
  constructor(cell: CellDiff, parts: ICellParts) {
    super();
    const { trans, truncated, loadParser } = parts;
    const title = cellTitle(cell, trans);
    this.addClass('jp-fstools-CellDiff');
    this.node.setAttribute('role', 'listitem');
    this.node.setAttribute('aria-label', title);
    const header = headerOf(cell, trans);
    this.addWidget(new Widget({ node: header }));
    if (cell.hunks.some(hunk => hunk.rows.length)) {
      const { hunks } = cell;
      const lines = new TextDiff({ hunks, truncated, name: title, loadParser, trans, rowsAtFirst: ROWS_AT_FIRST });
      this.addWidget(lines);
      if (cell.cell_type === 'markdown') {
        const render = () => this._addRendered(cell, parts);
        header.append(renderedButton('jp-fstools-CellDiff-rendered', lines, render, trans));
      }
    } else {
      this.addWidget(new Widget({ node: element('p', 'jp-fstools-Diff-note', whyNoLines(cell, truncated, trans)) }));
    }
    if (cell.carried.length) {
      this.addWidget(new CarriedLines(cell.carried, trans.__('Outputs, metadata and attachments'), parts));
    }
  }

  private _addRendered(cell: CellDiff, parts: ICellParts): Widget {
    const rendered = new RenderedChange(cell, parts);
    this.addWidget(rendered);
    return rendered;
  }
}

function headerOf(cell: CellDiff, trans: TranslationBundle): HTMLElement {
  const header = element('div', 'jp-fstools-CellDiff-header');
  const action = element('span', `jp-fstools-CellDiff-action jp-mod-${cell.action}`, actionWord(cell, trans));
  const place = element('span', 'jp-fstools-CellDiff-place', placeOfCell(cell, trans));
  const kind = element('span', 'jp-fstools-CellDiff-type', cell.cell_type);
  const id = element('span', 'jp-fstools-CellDiff-id', cell.cell_id);
  id.title = trans.__('Id of the cell: %1', cell.cell_id);
  header.append(action, place, kind, id);
  return header;
}

function cellTitle(cell: CellDiff, trans: TranslationBundle): string {
  return trans.__(
    '%1 (%2, id %3): %4',
    placeOfCell(cell, trans),
    cell.cell_type,
    cell.cell_id,
    actionWord(cell, trans)
  );
}

function placeOfCell({ index, action }: CellDiff, trans: TranslationBundle): string {
  return placeOf(index, action === 'delete', trans);
}

/** Call a cell by its place, counted from one: in the notebook after the change, of a deleted cell in that before. */
export function placeOf(index: number, isGone: boolean, trans: TranslationBundle): string {
  return isGone ? trans.__('Former cell %1', index + 1) : trans.__('Cell %1', index + 1);
}

function actionWord(cell: CellDiff, trans: TranslationBundle): string {
  const word = wordOf(cell, trans);
  return cell.moved_from === null || cell.action === 'move' ? word : trans.__('%1, moved', word);
}

function wordOf(cell: CellDiff, trans: TranslationBundle): string {
  switch (cell.action) {
    case 'edit':
      return trans.__('Edited');
    case 'insert':
      return trans.__('Inserted');
    case 'delete':
      return trans.__('Deleted');
    case 'move':
      return trans.__('Moved');
    case 'convert':
      return trans.__('Converted to %1', cell.cell_type);
    case 'clear_outputs':
      return trans.__('Outputs cleared');
  }
}

function whyNoLines(cell: CellDiff, truncated: boolean, trans: TranslationBundle): string {
  switch (cell.action) {
    case 'move':
      return trans.__('Moved here; source unchanged.');
    case 'clear_outputs':
      return trans.__('Source unchanged.');
  }
  if (truncated) {
    return trans.__('Lines not shown: the whole diff is too large.');
  }
  switch (cell.action) {
    case 'insert':
    case 'delete':
      return trans.__('Empty cell.');
    case 'convert':
      return trans.__('Source unchanged.');
    case 'edit':
      return trans.__('Source unchanged; outputs or metadata differ.');
  }
}
