/** Tells in which cell of a notebook a person is, and keeps them there. */

import type { ISharedNotebook } from '@jupyter/ydoc';
import type { CodeEditor } from '@jupyterlab/codeeditor';

/** The field of a notebook's awareness, which in a room the server and other pages see too. */
const CARET = 'fstools:caret';

/** A notebook's widget, as far as it is needed here. */
export interface INotebook {
  readonly node: HTMLElement;
  readonly widgets: readonly {
    readonly model: { id: string; sharedModel?: unknown };
    readonly editor: CodeEditor.IEditor | null;
    readonly prompt?: string;
  }[];
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

/** Tell from now on which cell's editor has the focus, and keep its person in the cell that they have chosen. */
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

/** What comes from a room does not go through this page's own change of the model. */
function stayBesideOthers(notebook: INotebook, model: object): void {
  const { ydoc } = model as { ydoc?: IEditedTogether };
  let goBack = (): void => undefined;
  ydoc?.on('beforeTransaction', ({ local }) => local || notebook.isDisposed || (goBack = placeIn(notebook)));
  ydoc?.on('afterTransaction', ({ local }) => local || goBack());
}

/** Whether a cell runs as a widget shows it: JupyterLab 4.2 keeps that nowhere else. */
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

/** Change cells in one step that no undo of a person takes back; they stay in the cell that they have chosen. */
export function transactInPlace(model: ISharedNotebook, act: () => void): void {
  const shown = [...(views.get(model) ?? [])].filter(({ isDisposed }) => !isDisposed);
  const returns = shown.map(placeIn);
  model.transact(act, false);
  returns.forEach(goBack => goBack());
}

/** Where a cell is taken out, be it to be put in elsewhere, another one is chosen and the keyboard goes nowhere. */
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
    if (hadFocus) {
      // JupyterLab takes cells off the page, and 4.2 puts them on it, by the end of the first frame.
      nextFrame(() => nextFrame(() => notebook.isDisposed || hasFocusSomewhere() || notebook.activate()));
    }
  };
}

/** Whoever takes the element with the focus off the page leaves it to the body. */
function hasFocusSomewhere(): boolean {
  return document.activeElement !== null && document.activeElement !== document.body;
}

function nextFrame(act: () => void): void {
  window.requestAnimationFrame(act);
}

function awarenessOf(model: unknown): IAwareness | undefined {
  return (model as { awareness?: IAwareness }).awareness;
}
