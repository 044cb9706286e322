/** Draws changes inside an editor: marked lines, the other side's lines, and buttons at each hunk. */

import type { CodeMirrorEditor } from '@jupyterlab/codemirror';
import type { Range } from '@codemirror/state';

import { StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';

import { drawText } from '../diff/styledText';
import { element } from '../element';
import type { IPlacedHunk } from './placedHunks';

/** A hunk to draw, with what stands below it. */
export interface IInlineMark {
  /** Two marks of one key are drawn alike. */
  key: string;
  placed: IPlacedHunk;
  /** Whether it waits: then the other side's lines are what comes, else what was. */
  waits: boolean;
  /** Makes what stands below the hunk: its buttons. */
  controls(): HTMLElement;
}

// @codemirror/merge shows how two whole documents differ, and so what the person types meanwhile, too: these marks
// are of the change alone, and move along with what is typed.
const show = StateEffect.define<readonly IInlineMark[]>();

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(drawn, transaction) {
    const shown = transaction.effects.find(effect => effect.is(show));
    return shown ? decorations(transaction.state.doc, shown.value as IInlineMark[]) : drawn.map(transaction.changes);
  },
  provide: field => EditorView.decorations.from(field)
});

const equipped = new WeakSet<CodeMirrorEditor>();

/** Show these hunks in an editor, and no others. */
export function showMarks(editor: CodeMirrorEditor, hunks: readonly IInlineMark[]): void {
  if (!equipped.has(editor)) {
    if (!hunks.length) {
      return;
    }
    equipped.add(editor);
    editor.injectExtension(marks);
  }
  editor.editor.dispatch({ effects: show.of(hunks) });
}

type Text = EditorView['state']['doc'];

function decorations(doc: Text, hunks: readonly IInlineMark[]): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  for (const mark of hunks) {
    const blocks = mark.placed.blocks ?? [];
    const lineClass = `jp-fstools-Review-line jp-mod-${mark.waits ? 'remove' : 'add'}`;
    blocks.forEach((block, index) => {
      for (let at = block.line; at < Math.min(block.line + block.count, doc.lines); at++) {
        ranges.push(Decoration.line({ class: lineClass }).range(doc.line(at + 1).from));
      }
      const isLast = index === blocks.length - 1;
      if (block.other.length || isLast) {
        const after = Math.min(block.line + block.count, doc.lines);
        const widget = new OtherSide(mark, block.other, isLast, index);
        const place = after ? doc.line(after).to : 0;
        ranges.push(Decoration.widget({ widget, block: true, side: after ? 1 : -1 }).range(place));
      }
    });
  }
  return Decoration.set(ranges, true);
}

/** The lines of the side that the text does not have, and the buttons of the hunk. */
class OtherSide extends WidgetType {
  constructor(
    private _mark: IInlineMark,
    private _lines: readonly string[],
    private _isLast: boolean,
    private _index: number
  ) {
    super();
  }

  override eq(other: OtherSide): boolean {
    return other._mark.key === this._mark.key && other._index === this._index;
  }

  override toDOM(): HTMLElement {
    const { waits } = this._mark;
    const box = element('div', 'jp-fstools-Review-other');
    const lines = linesBlock(this._lines, waits ? 'add' : 'remove');
    lines.hidden = !waits;
    if (this._lines.length) {
      box.append(lines);
    }
    if (this._isLast) {
      box.append(this._mark.controls());
    }
    return box;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** Lines that stand in no editor. */
export function linesBlock(lines: readonly string[], kind: 'add' | 'remove'): HTMLElement {
  const block = element('div', `jp-fstools-Review-lines jp-mod-${kind}`);
  block.setAttribute('role', 'group');
  for (const line of lines) {
    const row = element('div', 'jp-fstools-Review-row');
    drawText(row, line, []);
    block.append(row);
  }
  return block;
}
