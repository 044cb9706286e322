/** Shows changes in the cells of a notebook, as they come into sight. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { CodeMirrorEditor } from '@jupyterlab/codemirror';

import type { CellDiff, Change } from '../payloads';
import type { ICellBox, IOpenCell } from './cellMarks';
import type { IInlineMark } from './inlineMarks';
import type { IDoubt, IMarker, IPlace, IReviewView, IWritten, Position } from './reviewView';

import { comingIn, duplicatesIn, markCell, movedOnIn, sourceOf, unnamedIn } from './cellMarks';
import { hunksOfCell, namedHunk } from './decisions';
import { DrawnCells } from './drawnCells';
import { HiddenCells } from './hiddenCells';
import { boxAside, showMarks } from './inlineMarks';
import { editsBack, linesOfSource, placedInCell, sideOf, sourceWith } from './placedHunks';
import { noteReached } from './reachedChange';
import { RecognizedCells } from './recognizedCells';
import { type IShownAt, shownAt } from './shownCells';
import { byPosition, editAsPerson, marksByLine, marksOf, positionsOf, revealButtons, revealLine } from './textReview';

/** An open notebook, as far as its review needs it. */
export interface IOpenNotebook {
  readonly node: HTMLElement;
  readonly widgets: readonly IOpenCell[];
  activeCellIndex: number;
  scrollToItem(index: number): Promise<void>;
}

/** Marks the changes of one notebook in its cells. */
export class NotebookReview implements IReviewView {
  constructor(
    private _notebook: IOpenNotebook,
    private _marker: IMarker,
    private _trans: TranslationBundle
  ) {
    this._drawn = new DrawnCells(_notebook.node, cell => this._draw(cell));
    this._hidden = new HiddenCells(_notebook, _trans, () => {
      this._follow();
      this._drawn.drawAgain();
    });
  }

  stale: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  doubts: ReadonlyMap<string, IDoubt> = new Map();
  gone: ReadonlySet<string> = new Set();

  draw(changes: readonly Change[]): void {
    const { widgets } = this._notebook;
    const ids = widgets.map(cell => cell.model.id);
    // Converting a cell replaces it by another one with the same id.
    const hasOthers = widgets.some(cell => this._widgets.get(cell.model.id) !== cell);
    const byId = new Map(widgets.map(cell => [cell.model.id, cell]));
    const duplicates = duplicatesIn(changes);
    const own = new Map([...byId].filter(([id]) => !duplicates.has(id)));
    const recognized = this._recognized.among(byId, changes, own);
    this._widgets = byId;
    this._cells = new Map([...own, ...[...recognized].map(([name, id]) => [name, byId.get(id)!] as const)]);
    const isKept = (change: Change, name: string) => this._marker.isKept(change, name);
    const movedOn = movedOnIn(changes, this._cells, isKept);
    const waiting = changes.filter(({ status }) => status === 'proposed');
    this.stale = new Map([...movedOn].filter(([id]) => waiting.some(change => change.id === id)));
    // A diff does not tell next to which cells an inserted or moved cell was to stand, but the server knows. It answers
    // for the whole proposal, so not where another part of it no longer fits.
    const whole = waiting.filter(({ id }) => !this.stale.has(id));
    this.doubts = new Map(whole.flatMap(change => this._doubtAbout(change, ids, own)));
    const drawn = changes.map(change => [change.id, change.revision, this._keysOf(change)]);
    const spelled = JSON.stringify([ids, [...recognized], drawn, [...movedOn].map(([id, names]) => [id, ...names])]);
    if (spelled !== this._spelled || hasOthers) {
      this._spelled = spelled;
      this._shown = shownAt(ids, this._cells, changes, movedOn, this._marker, this._trans);
      this.gone = this._goneOf(changes, movedOn);
      this._hidden.follow(new Set(this._shown.keys()));
      this._follow();
    }
    this._drawn.drawAgain();
  }

  shows(change: Change): boolean {
    const { id } = change;
    const shown = [...this._shown.values()];
    return (
      !unnamedIn(change, this._cells).length &&
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
    const editor = editorOf(this._notebook.widgets[index]);
    return [index, editor?.hasFocus() ? editor.getCursorPosition().line : -1];
  }

  putBack(change: Change, names: readonly string[]): boolean {
    const named = new Set(names.map(name => namedHunk(name)[0]));
    const cells = (change.diff.cells ?? []).filter(({ cell_id }) => named.has(cell_id));
    const found = cells.map(({ action, cell_id, hunks }) => {
      const editor = editorOf(this._cells.get(cell_id));
      if (!editor || action !== 'edit') {
        return null;
      }
      const lines = linesOfSource(editor.editor.state.doc.toString());
      const edits = editsBack(hunks, lines, positionsOf(names.filter(name => namedHunk(name)[0] === cell_id)));
      return edits && { editor, edits };
    });
    if (found.includes(null)) {
      return false;
    }
    found.forEach(one => editAsPerson(one!.editor, one!.edits));
    return true;
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
      const cell = this._cells.get(cell_id);
      const source = cell && sourceOf(cell);
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
    this._inputs.disconnect();
    this._hidden.dispose();
    this._drawn.dispose();
  }

  private _doubtAbout(
    change: Change,
    ids: readonly string[],
    own: ReadonlyMap<string, IOpenCell>
  ): [id: string, doubt: IDoubt][] {
    const unnamed = unnamedIn(change, own);
    const names = new Set([...comingIn(change), ...unnamed.flatMap(hunksOfCell)]);
    const sources = unnamed.length ? this._notebook.widgets.map(sourceOf) : [];
    return names.size ? [[change.id, { names, about: JSON.stringify([ids, sources]) }]] : [];
  }

  private _follow(): void {
    const shows = ({ model: { id } }: IOpenCell) => this._shown.has(id) || this._hidden.notesAt(id).length > 0;
    this._drawn.follow(this._notebook.widgets.filter(shows));
  }

  /** Draw a cell as it is now; false if it shows nothing. */
  private _draw(cell: IOpenCell): boolean {
    const shown = this._shown.get(cell.model.id);
    const editor = editorOf(cell);
    const aside = editor ? this._drawEdits(cell, editor, shown?.edits ?? []) : [];
    const notes = this._hidden.notesAt(cell.model.id);
    markCell(cell, [...aside, ...(shown?.boxes ?? []), ...notes], shown?.classes ?? []);
    return shown !== undefined || notes.length > 0;
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
    this._drawn.drawAgain(cell => cells.has(cell.node));
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
    const isGone = (change: Change) => !inSight.has(change.id) && !unnamedIn(change, this._cells).length;
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
      marksOf(change, placedInCell(hunks, text, sideOf(change)), cell_id, this._marker)
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
    const editor = editorOf(cell);
    const [line, id] = place ?? [0, null];
    const edits = this._shown.get(cell.model.id)?.edits ?? [];
    noteReached(cell.node, id, () => editor && revealButtons(editor, this._marksOf(cell, edits), id));
    if (place && editor) {
      revealLine(editor, Math.min(line, editor.lineCount - 1), this._notebook.node);
    }
  }

  private _keysOf(change: Change): string[] {
    const names = (change.diff.cells ?? []).flatMap(hunksOfCell);
    return names.map(name => this._marker.key(change, name));
  }

  private readonly _recognized = new RecognizedCells();
  private readonly _hidden: HiddenCells;
  private readonly _drawn: DrawnCells;
  private readonly _inputs = new MutationObserver(records => this._onInputs(records));
  private _widgets: ReadonlyMap<string, IOpenCell> = new Map();
  /** Cells by the names that changes give them. */
  private _cells = new Map<string, IOpenCell>();
  private _shown = new Map<string, IShownAt>();
  private _spelled = '';
  /** The line that the person was last led to. */
  private _reached: { cell: IOpenCell; line: number } | null = null;
}

function editorOf(cell: IOpenCell | undefined): CodeMirrorEditor | null {
  return cell?.editor instanceof CodeMirrorEditor ? cell.editor : null;
}
