/** Shows changes in the editor of a text file. */

import type { CodeMirrorEditor } from '@jupyterlab/codemirror';

import { EditorView } from '@codemirror/view';

import type { Change } from '../payloads';
import type { IInlineMark } from './inlineMarks';
import type { IDoubt, IMarker, IPlace, IReviewView, IWritten, Position } from './reviewView';

import { hunkName, namedHunk } from './decisions';
import { inEditor } from './editorLines';
import { showMarks, unfoldingAt } from './inlineMarks';
import { editsBack, type IPlacedHunk, type ITextEdit, placedLoosely, sideOf, textWith } from './placedHunks';
import { noteReached } from './reachedChange';

const BYTE_ORDER_MARK = '\uFEFF';

/** Marks the changes of one file in its editor. */
export class TextReview implements IReviewView {
  constructor(
    private _editor: CodeMirrorEditor,
    private _marker: IMarker
  ) {}

  stale: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  doubts: ReadonlyMap<string, IDoubt> = new Map();
  gone: ReadonlySet<string> = new Set();

  draw(changes: readonly Change[]): void {
    const text = this._text;
    const lines = text.split('\n');
    const places = changes.map((change): [Change, IPlacedHunk[]] => [
      change,
      placedLoosely(change.diff.hunks, lines, sideOf(change))
    ]);
    const waiting = places.filter(([{ status }]) => status === 'proposed');
    this.stale = namesOf(waiting, ({ blocks }) => !blocks);
    const loose = namesOf(waiting, ({ isLoose }) => isLoose === true);
    this.doubts = new Map([...loose].map(([id, names]) => [id, { names, about: text }]));
    const marks = places.map(([change, hunks]) => marksOf(change, hunks, '', this._marker));
    // A change without lines, such as of the encoding, was never visible, so it is not gone.
    const isGone = (hunks: readonly IPlacedHunk[], at: number) => hunks.length > 0 && !marks[at].length;
    this.gone = new Set(places.filter(([, hunks], at) => isGone(hunks, at)).map(([{ id }]) => id));
    this._marks = marks.flat();
    showMarks(this._editor, this._marks);
  }

  shows({ diff }: Change): boolean {
    return diff.cells === null && diff.hunks.length > 0;
  }

  places(): IPlace[] {
    return marksByLine(this._marks, this._editor).map(([line, id]) => ({
      at: [0, line],
      id,
      reveal: () => this._reveal(line, id)
    }));
  }

  get here(): Position {
    return [0, this._editor.getCursorPosition().line];
  }

  putBack(change: Change, names: readonly string[]): boolean {
    const text = this._editor.editor.state.doc.toString();
    const shown = withoutMark(text);
    const edits = editsBack(change.diff.hunks, shown.split('\n'), positionsOf(names));
    if (edits) {
      editAsPerson(this._editor, edits, text.length - shown.length);
    }
    return edits !== null;
  }

  written(change: Change, chosen: ReadonlyMap<string, string | null>): IWritten | null {
    const base = this._text;
    const content = textWith(change.diff.hunks, base, byPosition(chosen));
    return content === null ? null : { content, base };
  }

  dispose(): void {
    this._marks = [];
  }

  private get _text(): string {
    return inEditor(withoutMark(this._editor.model.sharedModel.getSource()));
  }

  private _reveal(line: number, id: string): void {
    const { _editor: editor } = this;
    editor.setCursorPosition({ line, column: 0 });
    revealLine(editor, line, editor.host);
    editor.focus();
    noteReached(editor.host, id, () => revealButtons(editor, this._marks, id));
  }

  private _marks: IInlineMark[] = [];
}

/** By id of change, the names of its hunks that are meant; changes without any are left out. */
function namesOf(
  places: readonly [Change, IPlacedHunk[]][],
  isMeant: (hunk: IPlacedHunk) => boolean
): Map<string, Set<string>> {
  const named = places.map(([{ id }, hunks]): [string, Set<string>] => {
    const meant = hunks.filter(isMeant);
    return [id, new Set(meant.map(({ position }) => hunkName(position)))];
  });
  return new Map(named.filter(([, names]) => names.size));
}

/** The lines of an editor at which marks begin, sorted, each with the id of the first mark there. */
export function marksByLine(
  marks: readonly IInlineMark[],
  { lineCount }: Pick<CodeMirrorEditor, 'lineCount'>
): [line: number, id: string][] {
  const first = new Map<number, string>();
  for (const { id, placed } of marks) {
    const start = placed.blocks?.[0]?.line ?? placed.hunk.old_start - 1;
    // Lines that are missing at the end of a text are marked below its last line.
    const line = Math.max(0, Math.min(start, lineCount - 1));
    first.set(line, first.get(line) ?? id);
  }
  return [...first].sort(([one], [other]) => one - other);
}

/** Scroll to a line, unfolded, and leave room below it for what a mark shows there. */
export function revealLine({ editor }: CodeMirrorEditor, line: number, { clientHeight }: HTMLElement): void {
  const { from } = editor.state.doc.line(line + 1);
  const unfolding = unfoldingAt(editor.state, [from]);
  editor.dispatch({ effects: [...unfolding, EditorView.scrollIntoView(from, { yMargin: clientHeight / 3 })] });
}

/** Scroll to the last line of a mark, below which it has its buttons. */
export function revealButtons({ editor }: CodeMirrorEditor, marks: readonly IInlineMark[], id: string | null): void {
  const { doc } = editor.state;
  const last = marks.find(mark => mark.id === id)?.placed.blocks?.at(-1);
  if (last) {
    const line = Math.max(1, Math.min(last.line + last.count, doc.lines));
    editor.dispatch({ effects: EditorView.scrollIntoView(doc.line(line).to, { y: 'center' }) });
  }
}

/** The marks of a change's hunks in a text; for an applied change, only of hunks that are still there. */
export function marksOf(change: Change, hunks: readonly IPlacedHunk[], cell: string, marker: IMarker): IInlineMark[] {
  const found = hunks.filter(
    ({ blocks, position }) =>
      (blocks || change.status === 'proposed') && !marker.isKept(change, hunkName(position, cell))
  );
  const diff = change.diff.cells?.find(({ cell_id }) => cell_id === cell) ?? null;
  return found.map(hunk => marker.mark(change, hunk, diff));
}

/** Chosen texts by position, of one file or one cell. */
export function byPosition(chosen: ReadonlyMap<string, string | null>): Map<number, string | null> {
  return new Map([...chosen].map(([name, text]) => [namedHunk(name)[1], text]));
}

/** A file's text without its byte order mark, which a diff does not show. */
function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** The positions of hunks of one file or one cell, by their names. */
export function positionsOf(names: readonly string[]): Set<number> {
  return new Set(names.map(name => namedHunk(name)[1]));
}

/**
 * Edit a text as the person does, so that Ctrl+Z takes it back.
 *
 * @param start - the offset in the editor of the text that the edits are of.
 */
export function editAsPerson(editor: CodeMirrorEditor, edits: readonly ITextEdit[], start = 0): void {
  const changes = edits.map(({ from, to, insert }) => ({ from: from + start, to: to + start, insert }));
  editor.editor.dispatch({ changes, userEvent: 'input' });
}
