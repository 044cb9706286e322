/** Tells in which cell of a notebook a person types. */

import type { CodeEditor } from '@jupyterlab/codeeditor';

/** The field of a notebook's awareness, which in a room the server and other pages see too. */
const CARET = 'fstools:caret';

/** A notebook's widget, as far as it is needed here. */
export interface INotebook {
  readonly node: HTMLElement;
  readonly widgets: readonly { readonly model: { id: string }; readonly editor: CodeEditor.IEditor | null }[];
}

interface IAwareness {
  setLocalStateField(name: string, value: string | null): void;
  getStates(): Map<number, Record<string, unknown>>;
}

/** Tell from now on which cell's editor has the focus. */
export function tellCaret(notebook: INotebook, model: unknown): void {
  const tell = () => {
    const cell = notebook.widgets.find(({ editor }) => editor?.hasFocus());
    awarenessOf(model)?.setLocalStateField(CARET, cell?.model.id ?? null);
  };
  notebook.node.addEventListener('focusin', tell);
  notebook.node.addEventListener('focusout', tell);
}

/** The ids of the cells in which people type. */
export function cellsWithCarets(model: unknown): Set<string> {
  const states = [...(awarenessOf(model)?.getStates().values() ?? [])];
  return new Set(states.map(state => state[CARET]).filter(id => typeof id === 'string'));
}

function awarenessOf(model: unknown): IAwareness | undefined {
  return (model as { awareness?: IAwareness }).awareness;
}
