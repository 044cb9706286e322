/** Adds the button below a list that is shown in part. */

import { element } from '../element';

/** Rows of a diff that are shown before a person asks for all. */
export const ROWS_AT_FIRST = 400;

/** Bubbles from a list once all of it is shown. */
export const SHOWN_ALL = 'jp-fstools-shown-all';

/** Whether a diff below an element still hides rows until a person asks for them. */
export function hidesRows(node: HTMLElement): boolean {
  return node.querySelector('.jp-fstools-Diff-showAll') !== null;
}

/**
 * Make a button that asks for the rest of a list and is removed once that is shown.
 *
 * @param label - its text.
 * @param list - gets the focus when the button is removed.
 * @param showAll - shows the rest.
 */
export function showAllButton(label: string, list: HTMLElement, showAll: () => Promise<void>): HTMLButtonElement {
  const button = element('button', 'jp-fstools-Diff-showAll', label);
  button.onclick = async () => {
    button.disabled = true;
    await showAll();
    button.remove();
    list.dispatchEvent(new CustomEvent(SHOWN_ALL, { bubbles: true }));
    list.tabIndex = -1;
    list.focus({ preventScroll: true });
  };
  return button;
}
