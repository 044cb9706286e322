/** Shows changes in the cells of a notebook, as they come into sight. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { CodeMirrorEditor } from '@jupyterlab/codemirror';

import type { CellDiff, Change } from '../payloads';
import type { ICellBox, ICellState, IOpenCell } from './cellMarks';
import type { IInlineMark } from './inlineMarks';
import type { IDoubt, IMarker, IPlace, IReviewView, IWritten, Position } from './reviewView';

import { Pace } from '../diff/pace';
import { element } from '../element';
import { comingIn, fitsWhole, markCell, movedOnIn, unnamedIn } from './cellMarks';
import { hunksOfCell, namedHunk } from './decisions';
import { inEditor } from './editorLines';
import { boxAside, showMarks } from './inlineMarks';
import { linesOfSource, placed, sideOf, sourceWith } from './placedHunks';
import { noteReached } from './reachedChange';
import { type IShownAt, shownAt } from './shownCells';
import { byPosition, marksByLine, marksOf, putBackIn, revealButtons, revealLine } from './textReview';

/** An open notebook, as far as its review needs it. */
export interface IOpenNotebook {
  readonly node: HTMLElement;
  readonly widgets: readonly IOpenCell[];
  activeCellIndex: number;
  scrollToItem(index: number): Promise<void>;
}

const AROUND_THE_SCREEN = '400px';
/** Most comparisons of a cell with a diff, so that drawing is not held up. */
const MOST_COMPARED = 100_000;

/** Draws only cells that are or were on screen. */
export class NotebookReview implements IReviewView {
  constructor(
    private _notebook: IOpenNotebook,
    private _marker: IMarker,
    private _trans: TranslationBundle
  ) {
    this._onScreen = new IntersectionObserver(entries => this._onSeen(entries), {
      root: _notebook.node,
      rootMargin: AROUND_THE_SCREEN
    });
  }

  stale: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  doubts: ReadonlyMap<string, IDoubt> = new Map();
  gone: ReadonlySet<string> = new Set();

  draw(changes: readonly Change[]): void {
    const ids = this._notebook.widgets.map(cell => cell.model.id);
    // Converting a cell replaces it by another one with the same id.
    const hasOthers = this._notebook.widgets.some(cell => this._cell(cell.model.id) !== cell);
    const byId = new Map(this._notebook.widgets.map(cell => [cell.model.id, cell]));
    this._recognized = this._recognize(changes, byId);
    this._cells = new Map([...byId, ...[...this._recognized].map(([name, id]) => [name, byId.get(id)!] as const)]);
    const isKept = (change: Change, name: string) => this._marker.isKept(change, name);
    const movedOn = movedOnIn(changes, id => this._state(id), isKept);
    const waiting = changes.filter(({ status }) => status === 'proposed');
    this.stale = new Map([...movedOn].filter(([id]) => waiting.some(change => change.id === id)));
    // A diff does not tell next to which cells an inserted or moved cell was to stand, but the server knows. It answers
    // for the whole proposal, so not where another part of it no longer fits.
    const whole = waiting.filter(({ id }) => !this.stale.has(id));
    this.doubts = new Map(whole.flatMap(change => this._doubtAbout(change, ids)));
    const drawn = changes.map(change => [change.id, change.revision, this._decided(change)]);
    const spelled = JSON.stringify([
      ids,
      [...this._recognized],
      drawn,
      [...movedOn].map(([id, names]) => [id, ...names])
    ]);
    if (spelled !== this._spelled || hasOthers) {
      this._spelled = spelled;
      this._shown = shownAt(
        ids,
        name => this._recognized.get(name) ?? name,
        changes,
        movedOn,
        this._marker,
        this._trans
      );
      this.gone = this._goneOf(changes, movedOn);
      this._hiding = this._findHiding();
      this._follow();
    }
    this._drawn.forEach(cell => this._draw(cell));
  }

  shows(change: Change): boolean {
    const { id } = change;
    const shown = [...this._shown.values()];
    return (
      !this._unnamedIn(change).length &&
      shown.some(({ edits, boxes }) => edits.some(([one]) => one.id === id) || boxes.some(box => box.change === id))
    );
  }

  places(): IPlace[] {
    return this._notebook.widgets.flatMap((cell, index) => {
      const shown = this._shown.get(cell.model.id);
      return shown ? this._linesOf(cell, shown).map(place => this._place(cell, index, place)) : [];
    });
  }

  get here(): Position {
    const index = this._notebook.activeCellIndex;
    const { _reached: reached } = this;
    // The keyboard leads to a cell, not into its text.
    if (reached && reached.cell === this._notebook.widgets[index]) {
      return [index, reached.line];
    }
    const editor = this._notebook.widgets[index]?.editor;
    return [index, editor instanceof CodeMirrorEditor && editor.hasFocus() ? editor.getCursorPosition().line : -1];
  }

  putBack(change: Change, names: readonly string[]): boolean {
    const [id] = namedHunk(names[0]);
    const cell = this._cell(id);
    const diff = change.diff.cells?.find(({ cell_id }) => cell_id === id);
    const { editor } = cell ?? {};
    if (!(editor instanceof CodeMirrorEditor) || diff?.action !== 'edit') {
      return false;
    }
    return putBackIn(editor, diff.hunks, names, linesOfSource(editor.editor.state.doc.toString()));
  }

  written(change: Change, chosen: ReadonlyMap<string, string | null>): IWritten | null {
    const content: Record<string, string> = {};
    const base: Record<string, string> = {};
    for (const { cell_id, action, hunks } of change.diff.cells ?? []) {
      const ofCell = new Map([...chosen].filter(([name]) => namedHunk(name)[0] === cell_id));
      const [text] = [...ofCell.values()].filter(one => one !== null);
      if (text === undefined) {
        continue;
      }
      if (action !== 'edit') {
        content[cell_id] = text;
        continue;
      }
      const source = this._state(cell_id)?.source;
      const made = source === undefined ? null : sourceWith(hunks, source, byPosition(ofCell));
      if (made === null) {
        return null;
      }
      content[cell_id] = made;
      base[cell_id] = source!;
    }
    return { content, base };
  }

  dispose(): void {
    this._onScreen.disconnect();
    this._inputs.disconnect();
    this._hides.disconnect();
    this._drawn.clear();
    this._queue = [];
  }

  private _doubtAbout(change: Change, ids: readonly string[]): [id: string, doubt: IDoubt][] {
    const known = new Set(ids);
    const unnamed = unnamedIn(change, id => known.has(id));
    const names = new Set([...comingIn(change), ...unnamed.flatMap(hunksOfCell)]);
    const sources = unnamed.length ? this._notebook.widgets.map(sourceOf) : [];
    return names.size ? [[change.id, { names, about: JSON.stringify([ids, sources]) }]] : [];
  }

  private _unnamedIn(change: Change): CellDiff[] {
    return unnamedIn(change, id => this._cells.has(id));
  }

  /**
   * Recognize cells that changes name by ids which this page does not have: those that alone fit a change. A cell that
   * was recognized stays so, whatever the person types in it.
   */
  private _recognize(changes: readonly Change[], byId: ReadonlyMap<string, IOpenCell>): Map<string, string> {
    const found = new Map<string, string>();
    const byChange = new Map<string, string>();
    const several = new Set<string>();
    let states: ICellState[] | null = null;
    for (const change of changes) {
      const unnamed = unnamedIn(change, id => byId.has(id));
      for (const diff of unnamed) {
        const key = `${change.id} ${diff.cell_id}`;
        let id = this._byChange.get(key);
        if ((id === undefined || !byId.has(id)) && unnamed.length * byId.size <= MOST_COMPARED) {
          states ??= [...byId.values()].map(stateOf);
          const fitting = [...byId.keys()].filter((_, at) => fitsWhole(diff, states![at], sideOf(change)));
          id = fitting.length === 1 ? fitting[0] : undefined;
        }
        if (id !== undefined && byId.has(id)) {
          byChange.set(key, id);
          // Cells that get the same source in two proposals have the same name there.
          if ((found.get(diff.cell_id) ?? id) !== id) {
            several.add(diff.cell_id);
          }
          found.set(diff.cell_id, id);
        }
      }
    }
    several.forEach(name => found.delete(name));
    this._byChange = byChange;
    return found;
  }

  private _follow(): void {
    this._onScreen.disconnect();
    this._hides.disconnect();
    for (const { model, node } of this._notebook.widgets) {
      if (this._shown.has(model.id)) {
        this._hides.observe(node, { attributeFilter: ['class'] });
      }
      if (this._shown.has(model.id) || this._hiding.has(model.id)) {
        this._onScreen.observe(node);
      }
    }
  }

  /** Counts the cells that show something but are hidden, by the id of the collapsed heading above them. */
  private _findHiding(): Map<string, number> {
    const found = new Map<string, number>();
    let above = '';
    for (const { isHidden, model } of this._notebook.widgets) {
      if (!isHidden) {
        above = model.id;
      } else if (this._shown.has(model.id)) {
        found.set(above, (found.get(above) ?? 0) + 1);
      }
    }
    return found;
  }

  private _onHides(): void {
    const hiding = this._findHiding();
    if (JSON.stringify([...hiding]) !== JSON.stringify([...this._hiding])) {
      this._hiding = hiding;
      this._follow();
      this._drawn.forEach(cell => this._draw(cell));
    }
  }

  private _onSeen(entries: readonly IntersectionObserverEntry[]): void {
    const seen = new Set(entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target));
    const cells = seen.size ? this._notebook.widgets.filter(cell => seen.has(cell.node)) : [];
    this._drawSoon(cells.filter(cell => !this._drawn.has(cell)));
  }

  private _drawSoon(cells: readonly IOpenCell[]): void {
    const isBusy = this._queue.length > 0;
    this._queue.push(...cells);
    if (!isBusy) {
      void this._drawQueue();
    }
  }

  /** Draw a few cells at a time, so that scrolling is not held up. */
  private async _drawQueue(): Promise<void> {
    // Not in the task in which the cells came into view: JupyterLab's own work makes it long enough.
    await new Promise(resolve => setTimeout(resolve));
    const pace = new Pace();
    while (this._queue.length) {
      const [cell] = this._queue;
      const isComplete = cell.editor !== null;
      this._drawn.add(cell);
      this._draw(cell);
      if (!isComplete) {
        // Its editor is created after the cell has come into view, in a task that is long enough by itself.
        void cell.ready?.then(() => window.setTimeout(() => this._drawSoon([cell]))).catch(() => undefined);
      }
      await pace.breathe();
      this._queue.shift();
    }
  }

  private _draw(cell: IOpenCell): void {
    if (!this._drawn.has(cell) || cell.isDisposed) {
      this._drawn.delete(cell);
      return;
    }
    const shown = this._shown.get(cell.model.id);
    const hidden = this._hiding.get(cell.model.id);
    const aside = cell.editor instanceof CodeMirrorEditor ? this._drawEdits(cell, cell.editor, shown?.edits ?? []) : [];
    const below = hidden ? [this._noteOf(hidden)] : [];
    markCell(cell, [...aside, ...(shown?.boxes ?? []), ...below], shown?.classes ?? []);
    if (!shown && !hidden) {
      this._drawn.delete(cell);
    }
  }

  private _noteOf(hidden: number): ICellBox {
    const text = this._trans._n('Changes in %1 hidden cell', 'Changes in %1 hidden cells', hidden);
    return { key: text, before: false, make: () => element('div', 'jp-fstools-Review-note', text) };
  }

  /** Mark lines in a cell's editor; where that is hidden, return boxes to show beside it instead. */
  private _drawEdits(cell: IOpenCell, editor: CodeMirrorEditor, edits: readonly [Change, CellDiff][]): ICellBox[] {
    const marks = this._marksOf(cell, edits);
    // The input of a cell may be folded, and its editor be hidden behind rendered Markdown.
    const wrapper = cell.node.querySelector('.jp-Cell-inputWrapper');
    const isAway = !cell.node.contains(editor.host) || editor.host.classList.contains('lm-mod-hidden');
    if (marks.length && wrapper) {
      this._inputs.observe(wrapper, { childList: true });
      this._inputs.observe(editor.host, { attributeFilter: ['class'] });
    }
    showMarks(editor, isAway ? [] : marks);
    const box = (mark: IInlineMark): ICellBox => ({
      key: `aside ${mark.key} ${mark.placed.blocks !== null}`,
      before: false,
      make: () => boxAside(mark)
    });
    return isAway ? marks.map(box) : [];
  }

  private _onInputs(records: readonly MutationRecord[]): void {
    const cells = new Set(records.map(({ target }) => (target as HTMLElement).closest('.jp-Cell')));
    this._drawn.forEach(cell => cells.has(cell.node) && this._draw(cell));
  }

  private _goneOf(changes: readonly Change[], movedOn: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
    const isThere = (change: Change, cell: CellDiff) =>
      hunksOfCell(cell).some(name => !movedOn.get(change.id)?.has(name) && !this._marker.isKept(change, name));
    const shown = [...this._shown.values()].flatMap(({ edits, boxes }) => [
      ...boxes.map(({ change }) => change),
      ...edits.filter(([change, cell]) => isThere(change, cell)).map(([{ id }]) => id)
    ]);
    const inSight = new Set(shown);
    const made = changes.filter(({ status, diff }) => status !== 'proposed' && diff.cells?.length);
    const isGone = (change: Change) => !inSight.has(change.id) && !this._unnamedIn(change).length;
    return new Set(made.filter(isGone).map(({ id }) => id));
  }

  /** The lines at which a cell's hunks begin, with their ids; one null for a cell that shows only boxes. */
  private _linesOf(cell: IOpenCell, { edits, boxes }: IShownAt): ([line: number, id: string] | null)[] {
    const marks = this._marksOf(cell, edits);
    const lineCount = sourceOf(cell).split('\n').length;
    return marks.length ? marksByLine(marks, { lineCount }) : boxes.length ? [null] : [];
  }

  private _place(cell: IOpenCell, index: number, place: [line: number, id: string] | null): IPlace {
    const [line, id] = place ?? [0, cell.model.id];
    const reveal = () => {
      this._reached = { cell, line };
      void this._reveal(index, place);
    };
    return { at: [index, line], id, reveal };
  }

  private _marksOf(cell: IOpenCell, edits: readonly [Change, CellDiff][]): IInlineMark[] {
    const text = sourceOf(cell);
    return edits.flatMap(([change, { cell_id, hunks }]) =>
      marksOf(change, placed(hunks, text, sideOf(change)), cell_id, this._marker)
    );
  }

  /** Scroll to a cell, then to the line in it, because a cell may be larger than the screen. */
  private async _reveal(index: number, place: [line: number, id: string] | null): Promise<void> {
    const cell = this._notebook.widgets[index];
    this._notebook.activeCellIndex = index;
    await this._notebook.scrollToItem(index);
    if (cell.isDisposed) {
      return;
    }
    // A button of another cell may have the focus, and Enter would decide about that cell's change.
    const focused = document.activeElement;
    if (!cell.node.contains(focused) || focused?.closest('.jp-fstools-Review-controls')) {
      cell.node.focus({ preventScroll: true });
    }
    const editor = cell.editor instanceof CodeMirrorEditor ? cell.editor : null;
    const [line, id] = place ?? [0, null];
    const edits = this._shown.get(cell.model.id)?.edits ?? [];
    noteReached(cell.node, id, () => editor && revealButtons(editor, this._marksOf(cell, edits), id));
    if (place && editor) {
      revealLine(editor, Math.min(line, editor.lineCount - 1), this._notebook.node);
    }
  }

  private _cell(id: string): IOpenCell | undefined {
    return this._cells.get(id);
  }

  private _state(id: string): ICellState | undefined {
    const cell = this._cell(id);
    return cell && stateOf(cell);
  }

  private _decided({ diff, ...change }: Change): string[] {
    const names = (diff.cells ?? []).flatMap(hunksOfCell);
    return names.map(name => this._marker.key({ diff, ...change }, name));
  }

  private readonly _onScreen: IntersectionObserver;
  private readonly _inputs = new MutationObserver(records => this._onInputs(records));
  private readonly _hides = new MutationObserver(() => this._onHides());
  private _drawn = new Set<IOpenCell>();
  private _queue: IOpenCell[] = [];
  private _cells = new Map<string, IOpenCell>();
  /** By the name of a cell in a change, the id that a cell without one got in this page. */
  private _recognized: ReadonlyMap<string, string> = new Map();
  /** The same by change and name. */
  private _byChange: ReadonlyMap<string, string> = new Map();
  private _shown = new Map<string, IShownAt>();
  /** The collapsed headings below which cells with changes are hidden, with how many. */
  private _hiding = new Map<string, number>();
  private _spelled = '';
  /** The line that the person was last led to. */
  private _reached: { cell: IOpenCell; line: number } | null = null;
}

function stateOf(cell: IOpenCell): ICellState {
  return { type: cell.model.type, source: sourceOf(cell) };
}

/** A cell's source with line endings as its editor and the diffs have them. */
function sourceOf({ model }: IOpenCell): string {
  return inEditor(model.sharedModel.getSource());
}
