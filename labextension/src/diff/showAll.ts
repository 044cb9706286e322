/** The button below a list that is shown in part. */

import { element } from '../element';

/**
 * Make a button that asks for the rest of a list and goes once it is shown.
 *
 * @param label - its text.
 * @param list - gets the focus that the button takes with it.
 * @param showAll - shows the rest.
 */
export function showAllButton(label: string, list: HTMLElement, showAll: () => Promise<void>): HTMLButtonElement {
  const button = element('button', 'jp-fstools-Diff-showAll', label);
  button.onclick = async () => {
    button.disabled = true;
    await showAll();
    button.remove();
    list.tabIndex = -1;
    list.focus({ preventScroll: true });
  };
  return button;
}
