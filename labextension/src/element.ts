/** Creates elements with plain text only: nothing of a file becomes markup. */

/** An element with a class and, if given, a text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  text?: string
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  if (made instanceof HTMLButtonElement) {
    made.type = 'button';
  }
  if (text !== undefined) {
    made.textContent = text;
  }
  return made;
}

/** A button; its `data-action` tells what it is for. */
export function actionButton(action: string, label: string): HTMLButtonElement {
  const made = element('button', 'jp-fstools-Button', label);
  made.dataset.action = action;
  return made;
}
