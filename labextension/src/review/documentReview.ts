/** Shows one open document's changes in it, and carries out what a person decides about them there. */

import type { DocumentWidget, IDocumentWidget } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { Throttler } from '@lumino/polling';
import { Signal } from '@lumino/signaling';

import type { ToolsServer } from '../feed/requests';
import type { CellDiff, Change } from '../payloads';
import type { Words } from '../panel/words';
import type { ICellBox, IOpenCell } from './cellMarks';
import type { HunkDecision } from './hunkControls';
import type { IInlineMark } from './inlineMarks';
import type { IPlacedHunk } from './placedHunks';

import { element } from '../element';
import { formerPlaces, ghostOf, markCell, predecessors } from './cellMarks';
import { asHunks, Decisions, hunkName, hunksOf } from './decisions';
import { hunkControls } from './hunkControls';
import { showMarks } from './inlineMarks';
import { placed } from './placedHunks';
import { ReviewBar } from './reviewBar';

const LOOK_AT_MOST_EVERY = 300;

/** What a review works with. */
export interface IReviewParts {
  server: ToolsServer;
  words: Words;
  trans: TranslationBundle;
  /** The tools' path of a document; null for what they do not reach. */
  toolsPath(path: string): string | null;
  /** Who looks; null while the server has not said. */
  user(): string | null;
  /** Go on in another document, after the last change of this one. */
  leave(path: string, by: 1 | -1): void;
}

type Notebook = { widgets: readonly IOpenCell[]; activeCellIndex: number; scrollToItem(index: number): Promise<void> };

/** Follows one document until it is closed. */
export class DocumentReview implements IDisposable {
  constructor(
    private _widget: IDocumentWidget,
    private _parts: IReviewParts
  ) {
    const { context } = _widget;
    this.bar = new ReviewBar(
      { decideAll: decision => void this._decideAll(decision), step: by => this.step(by) },
      _parts.trans
    );
    // Not into the toolbar itself: where it is narrow, what is at its end hides behind a button.
    (_widget as DocumentWidget).contentHeader.addWidget(this.bar);
    this._look = new Throttler(() => this._load(), { limit: LOOK_AT_MOST_EVERY, edge: 'trailing' });
    context.model.contentChanged.connect(this._onContent, this);
    context.pathChanged.connect(this.look, this);
    _widget.disposed.connect(this.dispose, this);
    void context.ready.then(() => this.look());
  }

  readonly bar: ReviewBar;

  /** The document's path as the tools call it; null for what they do not reach. */
  get path(): string | null {
    return this._parts.toolsPath(this._widget.context.path);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._look.dispose();
    Signal.disconnectReceiver(this);
  }

  /** Ask the server for the document's changes, soon. */
  look(): void {
    if (!this._isDisposed) {
      void this._look.invoke();
    }
  }

  /** Bring the next change into sight, or the previous one; beyond the last one another document. */
  step(by: 1 | -1): void {
    const places = this._places();
    this._at = Math.max(-1, Math.min(this._at, places.length)) + by;
    const reveal = places[this._at];
    if (reveal) {
      reveal();
    } else if (this.path !== null) {
      this._parts.leave(this.path, by);
    }
  }

  private async _load(): Promise<void> {
    const { server } = this._parts;
    const { path } = this;
    if (path === null || this._isDisposed) {
      return;
    }
    try {
      const [waiting, made] = await Promise.all([
        server.changesOf(path, 'proposed'),
        server.changesOf(path, 'applied')
      ]);
      const user = this._parts.user() ?? '';
      this._waiting = waiting.filter(change => change.path === path && change.diff.op !== 'execute').reverse();
      const standing = made.filter(change => change.path === path && change.undoes === null);
      this._newest = standing[0]?.id ?? '';
      this._made = standing.filter(change => !change.seen_by.includes(user) && change.tool !== 'undo').reverse();
    } catch {
      return; // The panel says that the server cannot be reached; what is shown here stays.
    }
    const known = new Map(this._decisions);
    this._decisions.clear();
    this._waiting.forEach(one => this._decisions.set(one.id, known.get(one.id) ?? new Decisions(one)));
    this._draw();
  }

  private _onContent(): void {
    if (this._waiting.length + this._made.length) {
      requestAnimationFrame(() => this._draw());
    }
  }

  private _draw(): void {
    if (this._isDisposed) {
      return;
    }
    const editor = this._fileEditor;
    this._stale = 0;
    if (editor) {
      const text = editor.model.sharedModel.getSource();
      const marks = this._changes.flatMap(change => this._marksIn(change, text, null));
      showMarks(editor, marks);
    } else if (this._notebook) {
      this._drawCells(this._notebook);
    }
    this.bar.tell(this._waiting, this._made, this._stale, this._problem);
  }

  private _marksIn(change: Change, text: string, cell: CellDiff | null): IInlineMark[] {
    const waits = change.status === 'proposed';
    const hunks = placed(cell?.hunks ?? change.diff.hunks, text, waits ? 'old' : 'new');
    const isStale = hunks.some(({ blocks }) => blocks === null);
    if (waits && isStale) {
      this._stale++;
    }
    const shown = hunks.filter(({ blocks, position }) => blocks && !this._isKept(change, position, cell?.cell_id));
    return waits && isStale ? [] : shown.map(hunk => this._mark(change, hunk, cell));
  }

  private _isKept(change: Change, position: number, cell?: string): boolean {
    return this._kept.has(keptName(change, hunkName(position, cell)));
  }

  private _mark(change: Change, hunk: IPlacedHunk, cell: CellDiff | null): IInlineMark {
    const name = hunkName(hunk.position, cell?.cell_id);
    const waits = change.status === 'proposed';
    return {
      key: `${change.id} ${change.revision} ${name} ${String(this._decisions.get(change.id)?.of(name))}`,
      placed: hunk,
      waits,
      controls: () => this._controls(change, name, '')
    };
  }

  private _controls(change: Change, name: string, note: string): HTMLElement {
    return hunkControls(
      {
        change,
        taken: this._decisions.get(change.id)?.of(name),
        count: hunksOf(change).length,
        undoable: change.id === this._newest && change.undoable,
        note,
        decide: (decision, reason) => void this._decide(change, name, decision, reason)
      },
      this._parts.trans
    );
  }

  private _drawCells(notebook: Notebook): void {
    const ids = notebook.widgets.map(cell => cell.model.id);
    const boxes = new Map<string, ICellBox[]>(ids.map(id => [id, []]));
    const classes = new Map<string, string[]>(ids.map(id => [id, []]));
    for (const change of this._changes) {
      const diffs = change.diff.cells ?? [];
      const waits = change.status === 'proposed';
      const hosts = waits ? predecessors(ids, diffs) : formerPlaces(ids, diffs);
      for (const cell of diffs) {
        const box = this._boxOf(change, cell);
        const host = hosts.has(cell.cell_id) ? hosts.get(cell.cell_id) : cell.cell_id;
        const at = host ?? ids[0];
        if (box && at !== undefined) {
          boxes.get(at)?.push({ ...box, before: host === null });
        }
        if (host !== cell.cell_id && waits && cell.action === 'move') {
          const note = element('div', 'jp-fstools-Review-note', this._parts.trans.__('%1: moves away', change.session));
          boxes.get(cell.cell_id)?.push({ key: `from ${change.id} ${cell.cell_id}`, node: note, before: false });
        }
        if (cell.action === (waits ? 'delete' : 'insert') && !this._isKept(change, 0, cell.cell_id)) {
          classes.get(cell.cell_id)?.push(waits ? 'jp-fstools-mod-delete' : 'jp-fstools-mod-inserted');
        }
      }
    }
    for (const cell of notebook.widgets) {
      this._follow(cell);
      this._drawCell(cell);
      markCell(cell, boxes.get(cell.model.id) ?? [], classes.get(cell.model.id) ?? []);
    }
  }

  /** What stands below a cell, or in the place of one, beside its lines. */
  private _boxOf(change: Change, cell: CellDiff): Omit<ICellBox, 'before'> | null {
    const { trans } = this._parts;
    const waits = change.status === 'proposed';
    const isGhost = cell.action === (waits ? 'insert' : 'delete');
    if ((cell.action === 'edit' && cell.hunks.length) || this._isKept(change, 0, cell.cell_id)) {
      return null;
    }
    const name = hunkName(0, cell.cell_id);
    const taken = String(this._decisions.get(change.id)?.of(name));
    const key = `${change.id} ${change.revision} ${cell.cell_id} ${taken}`;
    const notes = {
      edit: trans.__('outputs or metadata change'),
      insert: waits ? '' : trans.__('new cell'),
      delete: waits ? trans.__('this cell is deleted') : '',
      move: waits ? trans.__('cell %1 moves here', cell.cell_id) : trans.__('moved here'),
      convert: trans.__('becomes a %1 cell', cell.cell_type),
      clear_outputs: waits ? trans.__('its outputs are cleared') : trans.__('its outputs were cleared')
    };
    const controls = this._controls(change, name, notes[cell.action]);
    if (!isGhost) {
      const box = element('div', 'jp-fstools-Review-note');
      box.append(controls);
      return { key, node: box };
    }
    const label = waits ? trans.__('New %1 cell', cell.cell_type) : trans.__('Deleted %1 cell', cell.cell_type);
    return { key, node: ghostOf(cell, label, controls) };
  }

  /** Editors of cells come into being as the cells come into sight. */
  private _follow(cell: IOpenCell): void {
    if (!this._followed.has(cell)) {
      this._followed.add(cell);
      cell.inViewportChanged?.connect(() => this._drawCell(cell));
    }
  }

  private _drawCell(cell: IOpenCell): void {
    if (cell.editor instanceof CodeMirrorEditor && !this._isDisposed) {
      const text = cell.model.sharedModel.getSource();
      const marks = this._changes.flatMap(change =>
        (change.diff.cells ?? [])
          .filter(({ cell_id, action, hunks }) => cell_id === cell.model.id && action === 'edit' && hunks.length)
          .flatMap(diff => this._marksIn(change, text, diff))
      );
      showMarks(cell.editor, marks);
    }
  }

  private async _decide(change: Change, name: string, decision: HunkDecision, reason: string): Promise<void> {
    const { server } = this._parts;
    if (decision === 'keep') {
      // A change of several hunks is kept once each of them is.
      this._kept.add(keptName(change, name));
      const isWhole = hunksOf(change).every(one => this._kept.has(keptName(change, one)));
      await (isWhole ? this._asked(() => server.decide(change.id, 'keep')) : this._draw());
    } else if (decision === 'undo') {
      await this._asked(() => server.decide(change.id, 'undo', { hunks: asHunks(change, [name]) }));
    } else {
      const decisions = this._decisions.get(change.id)!;
      const isWhole = decisions.decide(name, decision === 'approve');
      this._reasons.set(change.id, [this._reasons.get(change.id), reason].filter(Boolean).join(' '));
      await (isWhole ? this._carryOut(decisions) : this._draw());
    }
  }

  private async _carryOut({ change, taken }: Decisions): Promise<void> {
    const reason = this._reasons.get(change.id) || undefined;
    const { server } = this._parts;
    await this._asked(() =>
      taken.length
        ? server.decide(change.id, 'approve', { hunks: asHunks(change, taken), reason })
        : server.decide(change.id, 'reject', { reason })
    );
  }

  private async _decideAll(decision: 'approve' | 'reject' | 'keep' | 'undo'): Promise<void> {
    const waits = decision === 'approve' || decision === 'reject';
    // The newest first, where they are taken back.
    const changes = waits ? this._waiting : [...this._made].reverse();
    for (const change of changes) {
      await this._asked(() => this._parts.server.decide(change.id, decision));
    }
  }

  private async _asked(ask: () => Promise<unknown>): Promise<void> {
    this._problem = '';
    try {
      await ask();
    } catch (error) {
      this._problem = this._parts.words.problem(error);
    }
    await this._load();
  }

  /** What brings each change into sight, in the document's order. */
  private _places(): (() => void)[] {
    const editor = this._fileEditor;
    if (editor) {
      const text = editor.model.sharedModel.getSource();
      const lines = this._changes.flatMap(change =>
        this._marksIn(change, text, null).flatMap(({ placed }) => placed.blocks!.slice(0, 1).map(block => block.line))
      );
      return [...new Set(lines)]
        .sort((one, other) => one - other)
        .map(line => () => {
          editor.setCursorPosition({ line: Math.min(line, editor.lineCount - 1), column: 0 });
          editor.revealPosition({ line: Math.min(line, editor.lineCount - 1), column: 0 });
          editor.focus();
        });
    }
    const notebook = this._notebook;
    const changed = new Set(this._changes.flatMap(({ diff }) => (diff.cells ?? []).map(cell => cell.cell_id)));
    const indexes = notebook?.widgets.flatMap((cell, index) =>
      changed.has(cell.model.id) || cell.node.querySelector(':scope > .jp-fstools-Review-box') ? [index] : []
    );
    return (indexes ?? []).map(index => () => {
      notebook!.activeCellIndex = index;
      void notebook!.scrollToItem(index);
    });
  }

  private get _changes(): Change[] {
    return [...this._waiting, ...this._made];
  }

  private get _fileEditor(): CodeMirrorEditor | null {
    const { editor } = this._widget.content as { editor?: unknown };
    return editor instanceof CodeMirrorEditor ? editor : null;
  }

  private get _notebook(): Notebook | null {
    const content = this._widget.content as unknown as Partial<Notebook>;
    return content.widgets && content.activeCellIndex !== undefined ? (content as Notebook) : null;
  }

  private _look: Throttler;
  private _waiting: Change[] = [];
  private _made: Change[] = [];
  private _decisions = new Map<string, Decisions>();
  private _reasons = new Map<string, string>();
  private _kept = new Set<string>();
  private _followed = new WeakSet<IOpenCell>();
  private _newest = '';
  private _problem = '';
  private _stale = 0;
  private _at = -1;
  private _isDisposed = false;
}

function keptName(change: Change, name: string): string {
  return `${change.id} ${name}`;
}
