/** Draws changes inside an editor: marked lines, the other side's lines, and buttons at each hunk. */

import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { EditorState, Range } from '@codemirror/state';

import { foldedRanges, unfoldEffect } from '@codemirror/language';
import { RangeSet, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, ViewPlugin, WidgetType } from '@codemirror/view';

import { drawText } from '../diff/styledText';
import { element } from '../element';
import type { DiffHunk } from '../payloads';
import type { IPlacedHunk } from './placedHunks';

/** A hunk to draw, with its buttons. */
export interface IInlineMark {
  /** Marks with the same key are drawn alike. */
  key: string;
  /** Its place; without blocks it is drawn as stale, with both sides. */
  placed: IPlacedHunk;
  /** Whether it waits: then the other side holds the new lines, else the old ones. */
  waits: boolean;
  /** Names the hunk in the page. */
  id: string;
  /** Whether the person has the old lines of a change that was made shown. */
  isOldShown(): boolean;
  /** Makes the buttons below the hunk. */
  controls(): HTMLElement;
}

/** ARIA roles by which a screen reader distinguishes added lines from removed ones. */
const ROLES = { add: 'insertion', remove: 'deletion' };

// @codemirror/merge compares two whole documents, so it would also mark what the person types. These marks show
// only the change, and move with the text as the person types.
const show = StateEffect.define<DecorationSet>();

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(drawn, transaction) {
    const shown = transaction.effects.find(effect => effect.is(show));
    return shown ? (shown.value as DecorationSet) : drawn.map(transaction.changes);
  },
  provide: field => EditorView.decorations.from(field)
});

/** Passes the visible width of the text to the boxes: a long line makes the text, and so the boxes, wider. */
const sight = ViewPlugin.define(view => {
  const { contentDOM, dom, scrollDOM } = view;
  const measure = (): void =>
    view.requestMeasure({
      key: dom,
      read: () => ({ left: contentDOM.offsetLeft, width: scrollDOM.clientWidth - contentDOM.offsetLeft }),
      write: ({ left, width }) => {
        dom.style.setProperty('--jp-fstools-sight-left', `${left}px`);
        dom.style.setProperty('--jp-fstools-sight-width', `${width}px`);
      }
    });
  measure();
  return { update: ({ geometryChanged }) => geometryChanged && measure() };
});

/** Show exactly these hunks in an editor. */
export function showMarks(editor: CodeMirrorEditor, hunks: readonly IInlineMark[]): void {
  const { state } = editor.editor;
  const drawn = state.field(marks, false);
  const wanted = decorations(state.doc, hunks);
  // Compared where they are now: a text that is replaced as a whole, even by the same one, takes its marks along.
  if (drawn ? RangeSet.eq([drawn], [wanted]) : !hunks.length) {
    return;
  }
  if (drawn === undefined) {
    // Marks are drawn with the extension's first update, because a second one would slow down scrolling.
    editor.injectExtension([marks.init(() => wanted), sight]);
  } else {
    editor.editor.dispatch({ effects: show.of(wanted) });
  }
  if (foldedRanges(state).size) {
    const waiting = hunks.filter(({ waits }) => waits);
    editor.editor.dispatch({ effects: unfoldingAt(state, placesOf(decorations(state.doc, waiting))) });
  }
  if (editor.host.closest('.lm-mod-hidden') && !unmeasured.has(editor)) {
    drawOnceShown(editor);
  }
}

/** Hidden editors whose marks are drawn again once they are shown. */
const unmeasured = new WeakSet<CodeMirrorEditor>();

/**
 * Draw the marks again once a hidden editor is shown: that of JupyterLab 4.2 keeps the heights that boxes have while it
 * is hidden, and takes a click below them for one in another line.
 */
function drawOnceShown(editor: CodeMirrorEditor): void {
  unmeasured.add(editor);
  const shown = new IntersectionObserver(entries => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) {
      shown.disconnect();
      unmeasured.delete(editor);
      // Not before the editor itself knows that it is shown.
      requestAnimationFrame(() => {
        const view = editor.editor;
        const drawn = view.state.field(marks);
        view.dispatch({ effects: show.of(Decoration.none) });
        view.dispatch({ effects: show.of(drawn) });
      });
    }
  });
  shown.observe(editor.host);
}

/** Unfolds the folded lines that hide any of these offsets. */
export function unfoldingAt(state: EditorState, places: readonly number[]): StateEffect<unknown>[] {
  const effects: StateEffect<unknown>[] = [];
  foldedRanges(state).between(0, state.doc.length, (from, to) => {
    if (places.some(place => from < place && place < to)) {
      effects.push(unfoldEffect.of({ from, to }));
    }
  });
  return effects;
}

function placesOf(drawn: DecorationSet): number[] {
  const places: number[] = [];
  drawn.between(0, Infinity, from => void places.push(from));
  return places;
}

type Text = EditorView['state']['doc'];

function decorations(doc: Text, hunks: readonly IInlineMark[]): DecorationSet {
  return Decoration.set(
    hunks.flatMap(mark => (mark.placed.blocks ? blockMarks(doc, mark) : [staleMark(doc, mark)])),
    true
  );
}

function blockMarks(doc: Text, mark: IInlineMark): Range<Decoration>[] {
  const ranges: Range<Decoration>[] = [];
  const blocks = mark.placed.blocks!;
  const kind = mark.waits ? 'remove' : 'add';
  const line = { class: `jp-fstools-Review-line jp-mod-${kind}`, attributes: { role: ROLES[kind] } };
  blocks.forEach((block, index) => {
    for (let at = block.line; at < Math.min(block.line + block.count, doc.lines); at++) {
      ranges.push(Decoration.line(line).range(doc.line(at + 1).from));
    }
    const isLast = index === blocks.length - 1;
    if (block.other.length || isLast) {
      const side = { lines: block.other, kind: mark.waits ? 'add' : 'remove', hidden: !mark.waits } as const;
      ranges.push(boxBelow(doc, block.line + block.count, new MarkBox(mark, [side], isLast, index)));
    }
  });
  return ranges;
}

function staleMark(doc: Text, mark: IInlineMark): Range<Decoration> {
  return boxBelow(doc, lastLineOf(mark.placed.hunk), new MarkBox(mark, bothSides(mark), true, 0));
}

/** Draw a hunk beside a hidden editor: both sides, and its buttons. */
export function boxAside(mark: IInlineMark): HTMLElement {
  return new MarkBox(mark, bothSides(mark), true, 0).toDOM();
}

function bothSides({ placed, waits }: IInlineMark): ISide[] {
  return (['remove', 'add'] as const).map(kind => {
    const lines = placed.hunk.rows.filter(row => row.kind === kind).map(row => row.text.split('\n', 1)[0]);
    return { lines, kind, hidden: kind === 'remove' && !waits };
  });
}

/** The last old line that a hunk is about, without the context below it. */
function lastLineOf({ rows, old_start }: DiffHunk): number {
  const end = rows.map(({ kind }) => kind !== 'context').lastIndexOf(true) + 1;
  return Math.max(old_start - 1, ...rows.slice(0, end).map(({ old }) => old));
}

/** A box below the first `count` lines of a text. */
function boxBelow(doc: Text, count: number, widget: WidgetType): Range<Decoration> {
  const after = Math.min(count, doc.lines);
  return Decoration.widget({ widget, block: true, side: after > 0 ? 1 : -1 }).range(after > 0 ? doc.line(after).to : 0);
}

interface ISide {
  lines: readonly string[];
  kind: 'add' | 'remove';
  hidden: boolean;
}

/** Shows lines that are not in the text, and the buttons of the hunk. */
class MarkBox extends WidgetType {
  constructor(
    private _mark: IInlineMark,
    private _sides: readonly ISide[],
    private _isLast: boolean,
    private _index: number
  ) {
    super();
  }

  override eq(other: MarkBox): boolean {
    const isSame = other._mark.key === this._mark.key && other._index === this._index;
    return isSame && !other._mark.placed.blocks === !this._mark.placed.blocks;
  }

  override toDOM(): HTMLElement {
    const box = element('div', 'jp-fstools-Review-other');
    const { controls, id, isOldShown, placed } = this._mark;
    box.classList.toggle('jp-mod-stale', placed.blocks === null);
    for (const { lines, kind, hidden } of this._sides.filter(side => side.lines.length)) {
      const block = linesBlock(lines, kind);
      if (hidden) {
        block.hidden = !isOldShown();
        block.dataset.oldOf = id;
      }
      box.append(block);
    }
    if (this._isLast) {
      box.append(controls());
    }
    box.addEventListener('focusin', event => leaveEditor(box, event));
    return box;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** Report the focus to the notebook as outside the cell's editor: otherwise it would send each key to the editor. */
function leaveEditor(box: HTMLElement, event: FocusEvent): void {
  const cell = box.closest('.jp-Cell');
  if (cell) {
    event.stopPropagation();
    cell.dispatchEvent(new FocusEvent('focusin', { bubbles: true, relatedTarget: event.relatedTarget }));
  }
}

/** Draws lines that are not part of an editor's text. */
export function linesBlock(lines: readonly string[], kind: 'add' | 'remove'): HTMLElement {
  const block = element('div', `jp-fstools-Review-lines jp-mod-${kind}`);
  block.setAttribute('role', ROLES[kind]);
  for (const line of lines) {
    const row = element('div', 'jp-fstools-Review-row');
    drawText(row, line);
    block.append(row);
  }
  return block;
}
