/** Applies a change to an open document's shared model, and takes it back. */

import type { ISharedCell, ISharedNotebook, ISharedText, NotebookChange } from '@jupyter/ydoc';
import type { JSONObject, JSONValue } from '@lumino/coreutils';

import type { TextModel } from './knownFile';
import type { CellOperation, ICellName, INotebookChange, ITextChange, Span } from './messages';

import { transactInPlace } from './carets';
import { CellList, isRunning, needsNewEditor } from './cellList';
import { setMember } from './cellMembers';
import { located, Refused } from './located';
import { Trace } from './trace';
import { bringsUntrusted, hadTrusted, rememberTrust, withTrust } from './trust';

/** A change that was made and can be kept, or taken back as far as it is still there. */
export interface IMade {
  keep(): void;
  takeBack(): void;
}

/** Change a text file's model; the person's undo history does not hold it. */
export function patchText(model: TextModel, change: ITextChange): IMade {
  const found = located(model.getSource(), change.spans, change.length);
  model.transact(() => replace(model, found), false);
  const trace = new Trace(model, found);
  return { keep: () => trace.keep(), takeBack: () => model.transact(() => trace.takeBack(), false) };
}

/** Change a notebook's cells in one step; the person's undo history does not hold it. */
export function patchNotebook(model: ISharedNotebook, change: INotebookChange): IMade {
  const patch = new NotebookPatch(model, change);
  patch.check();
  transactInPlace(model, () => patch.apply());
  patch.trace();
  return { keep: () => patch.keep(), takeBack: () => transactInPlace(model, () => patch.takeBack()) };
}

class NotebookPatch {
  constructor(
    private _model: ISharedNotebook,
    private _change: INotebookChange
  ) {
    this._list = new CellList(_model);
  }

  /** Check every operation before any is applied. */
  check(): void {
    for (const operation of this._change.operations) {
      this._checkOne(operation);
    }
  }

  apply(): void {
    for (const operation of this._change.operations) {
      this._apply(operation);
    }
  }

  /** Follow the texts, after the models have signalled the change itself. */
  trace(): void {
    for (const [id, found] of this._replaced) {
      this._traces.set(id, new Trace(this._find(id)!, found));
    }
    this._model.changed.connect(this._followCells, this);
  }

  keep(): void {
    this._model.changed.disconnect(this._followCells, this);
    this._traces.forEach(trace => trace.keep());
  }

  takeBack(): void {
    this._model.changed.disconnect(this._followCells, this);
    this._list = new CellList(this._model);
    this._traces.forEach(trace => trace.takeBack());
    for (const back of this._back.reverse()) {
      back();
    }
  }

  /** Follow cells that are recreated with the same id, as dragging a cell does. */
  private _followCells(_: unknown, { cellsChange }: NotebookChange): void {
    if (cellsChange) {
      this._model.cells.forEach(cell => this._traces.get(cell.id)?.follow(cell));
    }
  }

  private _find(id: string): ISharedCell | undefined {
    return this._list.cells.find(cell => cell.id === id);
  }

  private _checkOne(operation: CellOperation): void {
    if (operation.do !== 'insert') {
      const cell = this._cell(operation.cell);
      if (operation.do === 'source') {
        const { recreates } = this._rewritten(cell, operation.spans);
        this._checkStays(cell, recreates);
      } else if (operation.do === 'delete' && cell.getSource() !== operation.source) {
        throw new Refused('text');
      } else if (operation.do === 'move') {
        this._checkMove(cell);
      } else {
        this._checkStays(cell, operation.do !== 'members');
      }
    }
    if ('after' in operation && operation.after !== null && operation.after.index < this._change.total) {
      this._cell(operation.after);
    }
  }

  private _checkStays(cell: ISharedCell, recreates: boolean): void {
    if (recreates && this._list.stays(cell)) {
      throw new Refused(isRunning(cell) ? 'running' : 'caret');
    }
  }

  /** A cell that must not be recreated stays while the others are moved around it, so there may be only one. */
  private _checkMove(cell: ISharedCell): void {
    if (this._list.stays(cell) && this._list.cells.some(other => other !== cell && this._list.stays(other))) {
      throw new Refused(isRunning(cell) ? 'running' : 'caret');
    }
  }

  private _apply(operation: CellOperation): void {
    switch (operation.do) {
      case 'source':
        return this._source(operation.cell, operation.spans);
      case 'members':
        return this._members(operation.cell, operation.set);
      case 'convert':
        return this._convert(operation.cell, operation.cell_type);
      case 'delete':
        return this._delete(this._cell(operation.cell));
      case 'insert':
        return this._insert(operation.cell, this._placeAfter(operation.after), operation.content);
      case 'move':
        return this._move(operation.cell, operation.after);
    }
  }

  private _source(name: ICellName, spans: readonly Span[]): void {
    const cell = this._cell(name);
    const { found, source, recreates } = this._rewritten(cell, spans);
    if (recreates) {
      return this._recreate(name, source);
    }
    replace(cell, found);
    this._replaced.set(cell.id, found);
  }

  /** The current places of spans in a cell, the source that they make, and whether that needs a recreated cell. */
  private _rewritten(cell: ISharedCell, spans: readonly Span[]): { found: Span[]; source: string; recreates: boolean } {
    const before = cell.getSource();
    const found = located(before, spans);
    const source = [...found].reverse().reduce((text, [offset, removed, inserted]) => {
      return text.slice(0, offset) + inserted + text.slice(offset + removed.length);
    }, before);
    return { found, source, recreates: needsNewEditor(before, source) };
  }

  /** Give a cell another source by recreating it; taken back only where the person has not typed in it since. */
  private _recreate(name: ICellName, source: string): void {
    const was = this._cell(name).toJSON() as unknown as JSONObject;
    this._exchange(name, { ...was, source });
    this._back.push(() => {
      if (this._find(was.id as string)?.getSource() === source) {
        this._exchange(name, was);
      }
    });
  }

  private _members(name: ICellName, set: Record<string, JSONValue>): void {
    const { id } = this._cell(name);
    const was = this._cell(name).toJSON() as unknown as JSONObject;
    if ('outputs' in set && (was.outputs as JSONValue[] | undefined)?.length) {
      rememberTrust(this._model, was);
    }
    for (const [member, value] of Object.entries(set)) {
      if (this._setMember(name, this._cell(name), member, value)) {
        this._back.push(() => {
          const now = this._find(id);
          if (now) {
            this._setMember(name, now, member, was[member]);
          }
        });
      }
    }
  }

  /** Recreate a trusted cell for outputs that were never trusted in it; false if it must stay and so gets none. */
  private _setMember(name: ICellName, cell: ISharedCell, member: string, value: JSONValue | undefined): boolean {
    if (member !== 'outputs' || !bringsUntrusted(cell, value) || hadTrusted(this._model, cell, value!)) {
      return setMember(cell, member, value);
    }
    if (this._list.stays(cell)) {
      return false;
    }
    const content = { ...(cell.toJSON() as unknown as JSONObject), outputs: value! };
    this._exchange(name, withTrust(this._model, content));
    return true;
  }

  /** Convert a cell by recreating it, as JupyterLab does. */
  private _convert(name: ICellName, type: string): void {
    const cell = this._cell(name);
    const was = cell.toJSON() as unknown as JSONObject;
    rememberTrust(this._model, was);
    const { outputs: _outputs, execution_count: _count, attachments, ...kept } = was;
    const more: JSONObject =
      type === 'code' ? { outputs: [], execution_count: null } : attachments ? { attachments } : {};
    this._exchange(name, { ...kept, ...more, cell_type: type });
    const { id } = cell;
    this._back.push(() => {
      const now = this._find(id);
      this._exchange(name, { ...was, source: now?.getSource() ?? was.source });
    });
  }

  private _exchange(name: ICellName, content: JSONObject): void {
    const at = this._list.cells.findIndex(cell => cell.id === content.id);
    if (at >= 0) {
      this._list.delete(at);
      this._named.set(name.index, this._list.insert(at, content));
    }
  }

  private _delete(cell: ISharedCell): void {
    const at = this._list.cells.indexOf(cell);
    const was = cell.toJSON() as unknown as JSONObject;
    this._list.delete(at);
    rememberTrust(this._model, was);
    this._back.push(() => void this._list.insert(Math.min(at, this._list.cells.length), was));
  }

  private _insert(name: ICellName, at: number, content: JSONObject): void {
    const made = this._list.insert(at, withTrust(this._model, content));
    this._named.set(name.index, made);
    const { id } = made;
    this._back.push(() => {
      const now = this._list.cells.findIndex(cell => cell.id === id);
      if (now >= 0) {
        this._list.delete(now);
      }
    });
  }

  private _move(name: ICellName, after: ICellName | null): void {
    const from = this._list.cells.indexOf(this._cell(name));
    const place = this._placeAfter(after);
    const to = place > from ? place - 1 : place;
    if (from === to) {
      return;
    }
    const { id } = this._list.cells[from];
    for (const [was, made] of this._list.move(from, to)) {
      this._named.forEach((cell, index) => cell === was && this._named.set(index, made));
    }
    this._back.push(() => {
      const now = this._list.cells.findIndex(cell => cell.id === id);
      if (now >= 0) {
        this._list.move(now, Math.min(from, this._list.cells.length - 1));
      }
    });
  }

  private _placeAfter(name: ICellName | null): number {
    return name === null ? 0 : this._list.cells.indexOf(this._cell(name)) + 1;
  }

  /** The cell of a name from before the change. */
  private _cell(name: ICellName): ISharedCell {
    const known = this._named.get(name.index);
    if (known) {
      return known;
    }
    const { cells } = this._list;
    const found = name.id === null ? [cells[name.index]] : cells.filter(cell => cell.id === name.id);
    if (found.length !== 1 || !found[0] || (name.id === null && cells.length !== this._change.total)) {
      throw new Refused('text');
    }
    this._named.set(name.index, found[0]);
    return found[0];
  }

  private _list: CellList;
  private _named = new Map<number, ISharedCell>();
  private _replaced = new Map<string, Span[]>();
  private _traces = new Map<string, Trace>();
  private _back: (() => void)[] = [];
}

function replace(model: Pick<ISharedText, 'updateSource'>, spans: readonly Span[]): void {
  for (const [offset, removed, inserted] of [...spans].reverse()) {
    model.updateSource(offset, offset + removed.length, inserted);
  }
}
