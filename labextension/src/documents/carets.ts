/** Tells in which cell of a notebook a person is, and keeps them there. */

import type { ISharedNotebook } from '@jupyter/ydoc';
import type { CodeEditor } from '@jupyterlab/codeeditor';

import { type ICollapsible, showUncovered } from './collapsed';

/** Field of a notebook's awareness; in a room, the server and other pages see it too. */
const CARET = 'fstools:caret';

/** A notebook's widget, as far as it is needed here. */
export interface INotebook {
  readonly node: HTMLElement;
  readonly widgets: readonly (ICollapsible & {
    readonly model: { id: string; sharedModel?: unknown };
    readonly editor: CodeEditor.IEditor | null;
    readonly prompt?: string;
  })[];
  readonly isDisposed: boolean;
  activeCellIndex: number;
  activate(): void;
}

/** The widgets that show a model. */
const views = new WeakMap<object, Set<INotebook>>();

/** The widgets of all notebooks. */
const notebooks = new Set<INotebook>();

interface IAwareness {
  setLocalStateField(name: string, value: string | null): void;
  getStates(): Map<number, Record<string, unknown>>;
}

interface IEditedTogether {
  on(name: 'beforeTransaction' | 'afterTransaction', act: (transaction: { local: boolean }) => void): void;
}

/** Report from now on which cell's editor has the focus, and keep the person in the cell that they selected. */
export function watchPlace(notebook: INotebook, model: object): void {
  views.set(model, (views.get(model) ?? new Set()).add(notebook));
  notebooks.forEach(one => one.isDisposed && notebooks.delete(one));
  notebooks.add(notebook);
  const tell = () => {
    const cell = notebook.widgets.find(({ editor }) => editor?.hasFocus());
    awarenessOf(model)?.setLocalStateField(CARET, cell?.model.id ?? null);
  };
  notebook.node.addEventListener('focusin', tell);
  notebook.node.addEventListener('focusout', tell);
  stayBesideOthers(notebook, model);
}

/** Keep the person's place when changes come from a room, which do not go through `transactInPlace`. */
function stayBesideOthers(notebook: INotebook, model: object): void {
  const { ydoc } = model as { ydoc?: IEditedTogether };
  let goBack = (): void => undefined;
  ydoc?.on('beforeTransaction', ({ local }) => local || notebook.isDisposed || (goBack = placeIn(notebook)));
  ydoc?.on('afterTransaction', ({ local }) => local || goBack());
}

/** Whether a widget shows a cell as running: JupyterLab 4.2 keeps that state nowhere else. */
export function isShownRunning(cell: unknown): boolean {
  return [...notebooks].some(
    notebook =>
      !notebook.isDisposed && notebook.widgets.some(({ model, prompt }) => prompt === '*' && model.sharedModel === cell)
  );
}

/** The ids of the cells in which people type. */
export function cellsWithCarets(model: unknown): Set<string> {
  const states = [...(awarenessOf(model)?.getStates().values() ?? [])];
  return new Set(states.map(state => state[CARET]).filter(id => typeof id === 'string'));
}

/** Change cells in one transaction outside the undo history, and keep the person in the cell that they selected. */
export function transactInPlace(model: ISharedNotebook, act: () => void): void {
  const shown = [...(views.get(model) ?? [])].filter(({ isDisposed }) => !isDisposed);
  const returns = shown.map(placeIn);
  model.transact(act, false);
  returns.forEach(goBack => goBack());
}

/** Remember the selected cell and the focus, to restore them: removing a cell, even to move it, changes both. */
function placeIn(notebook: INotebook): () => void {
  const { activeCellIndex, node, widgets } = notebook;
  const chosen = widgets[activeCellIndex]?.model.id;
  const hadFocus = node.contains(document.activeElement);
  return () => {
    if (notebook.isDisposed) {
      return;
    }
    const at = notebook.widgets.findIndex(({ model }) => model.id === chosen);
    if (at >= 0 && at !== notebook.activeCellIndex) {
      notebook.activeCellIndex = at;
    }
    void showUncovered(notebook);
    if (hadFocus) {
      // Wait two frames: JupyterLab detaches cells, and 4.2 attaches them, by the end of the first one.
      nextFrame(() => nextFrame(() => notebook.isDisposed || hasFocusSomewhere() || notebook.activate()));
    }
  };
}

/** Whether an element has the focus; when the focused element is removed from the page, the body gets it. */
function hasFocusSomewhere(): boolean {
  return document.activeElement !== null && document.activeElement !== document.body;
}

function nextFrame(act: () => void): void {
  window.requestAnimationFrame(act);
}

function awarenessOf(model: unknown): IAwareness | undefined {
  return (model as { awareness?: IAwareness }).awareness;
}
