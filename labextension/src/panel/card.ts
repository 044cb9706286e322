/** Draws a card once it scrolls into view, and keeps the focus in the list when it scrolls out again. */

import type { Message } from '@lumino/messaging';

import { Widget } from '@lumino/widgets';

import { element } from '../element';

/** Shows one row of the list; subclasses draw it. */
export abstract class Card extends Widget {
  constructor(id: string, className: string) {
    super({ node: element('article', '') });
    this.addClass(className);
    this.node.tabIndex = 0;
    this.node.dataset.entryId = id;
  }

  /** Draw the row as it is now. */
  protected abstract draw(): void;

  protected override onBeforeAttach(message: Message): void {
    this.draw();
  }

  /** Give the focus to the list when scrolling removes the card from the page. */
  protected override onBeforeDetach(message: Message): void {
    if (this.node.contains(document.activeElement)) {
      this.parent?.node.focus({ preventScroll: true });
    }
  }

  protected override onUpdateRequest(message: Message): void {
    if (this.isAttached) {
      this.draw();
    }
  }
}
