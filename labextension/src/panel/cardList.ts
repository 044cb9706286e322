/** Lists cards: only those in sight are in the page, however much has happened. */

import type { Message } from '@lumino/messaging';

import { WindowedList, WindowedListModel } from '@jupyterlab/ui-components';
import { UUID } from '@lumino/coreutils';

import type { Widget } from '@lumino/widgets';

import type { Row } from './turns';

import { tellTimes } from './cardHead';
import { element } from '../element';
import { Ids } from './ids';

const USUAL_HEIGHT = 30;
const NEAR_END = 30;
const TIMES_AGE = 30_000;
const FRAMES_TO_DRAW = 3;
const MOST_FRAMES = 30;

/** Shows one row, and later states of it. */
export interface ICard extends Widget {
  entry: Row;
  /** Its number in the list and the length of the list, as last told to screen readers. */
  position?: readonly [number, number];
  /** Unfold it, or fold it again. */
  toggle(): Promise<void>;
}

class CardListModel extends WindowedListModel {
  constructor(
    ids: Ids,
    public widgetRenderer: (index: number) => ICard
  ) {
    super({ overscanCount: 5 });
    this.itemsList = ids;
  }

  estimateWidgetSize = () => USUAL_HEIGHT;

  /** Skip removed cards and prepare new ones: JupyterLab 4.2 fails on both if they changed since it last drew. */
  override setWidgetSize(sizes: { index: number; size: number }[]): boolean {
    const there = sizes.filter(({ index }) => index < this.widgetCount);
    there.forEach(({ index }) => this.getSpan(index, index));
    return super.setWidgetSize(there);
  }
}

/** Shows a card for each row. */
export class CardList extends WindowedList<CardListModel> {
  constructor(private _options: CardList.IOptions) {
    const ids = new Ids();
    super({ model: new CardListModel(ids, index => this._cardAt(index)) });
    this._ids = ids;
    this.addClass('jp-fstools-CardList');
    this.viewportNode.setAttribute('role', 'feed');
    this.viewportNode.setAttribute('aria-label', _options.label);
    this.node.tabIndex = -1;
    this.node.addEventListener('keydown', event => this._onKey(event));
    this.node.addEventListener('focusin', event => this._onFocus(event.target as HTMLElement));
    this.node.addEventListener('focusout', () => this._stand(null));
  }

  /** The rows that are listed; those in view keep their place on the screen. */
  set entries(entries: readonly Row[]) {
    const first = this._firstInSight();
    const before = this._topOf(first);
    let left = -1;
    this._entries = new Map(entries.map(entry => [entry.id, entry]));
    for (const [id, card] of this._cards) {
      const entry = this._entries.get(id);
      if (entry) {
        card.entry = entry;
      } else {
        left = card.node.contains(document.activeElement) ? this._ids.indexOf(id) : left;
        this._cards.delete(id);
        card.dispose();
      }
    }
    if (!this._entries.has(this._goal)) {
      this._stand(null);
    }
    this._ids.become([...this._entries.keys()]);
    tellTimes(this.viewportNode);
    // A list that was empty does not draw its first items by itself.
    this.update();
    const moved = this._topOf(first) - before;
    if (moved) {
      this.scrollTo(this.viewModel.scrollOffset + moved);
    }
    // The card at the place of a removed card takes its focus.
    if (left >= 0) {
      void this.focusCard(left);
    }
  }

  /** The cards that were made, in view or not. */
  get cards(): Iterable<ICard> {
    return this._cards.values();
  }

  override dispose(): void {
    this._cards.forEach(card => card.dispose());
    this.viewModel.dispose();
    super.dispose();
  }

  /** Scroll a card into view and focus it. */
  async focusCard(index: number): Promise<void> {
    if (!this._ids.length) {
      return;
    }
    this._place = Math.max(0, Math.min(index, this._ids.length - 1));
    const id = (this._goal = this._ids.get(this._place));
    // Not by scrollToItem: as heights change, it scrolls on for seconds, to the end of a diff unfolded meanwhile.
    for (let frame = 0; frame < FRAMES_TO_DRAW || !this._cards.get(id)?.isAttached; frame++) {
      if (this._goal !== id || frame > MOST_FRAMES || this.isDisposed) {
        return;
      }
      // New rows above may have moved the card, or another row may have replaced it.
      const place = this._ids.indexOf(id);
      if (place < 0) {
        return this.focusCard(index);
      }
      this.scrollTo(this.viewModel.getOffsetForIndexAndAlignment(place, 'auto', 0));
      await new Promise(requestAnimationFrame);
    }
    // The next key may have been pressed in the last frame.
    if (this._goal === id) {
      this._cards.get(id)?.node.focus({ preventScroll: true });
    }
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._clock = window.setInterval(() => this.layout.widgets.forEach(card => card.update()), TIMES_AGE);
  }

  protected override onBeforeDetach(message: Message): void {
    window.clearInterval(this._clock);
    super.onBeforeDetach(message);
  }

  // Hidden cards have no height, so they are not measured.
  protected override onBeforeHide(message: Message): void {
    this.isParentHidden = true;
  }

  protected override onAfterShow(message: Message): void {
    this.isParentHidden = false;
  }

  /** The id of the uppermost card in view; undefined at the top of the list, where new rows are to appear in view. */
  private _firstInSight(): string | undefined {
    const { scrollOffset } = this.viewModel;
    const cards = scrollOffset > 0 ? (this.layout.widgets as ICard[]) : [];
    const top = this.outerNode.getBoundingClientRect().top;
    return cards.find(card => card.node.getBoundingClientRect().bottom > top)?.entry.id;
  }

  private _topOf(id: string | undefined): number {
    const index = id === undefined ? -1 : this._ids.indexOf(id);
    return index < 0 ? 0 : this.viewModel.getSpan(index, index)[0];
  }

  private _cardAt(index: number): ICard {
    if (index >= this._ids.length - NEAR_END) {
      this._options.loadMore();
    }
    const id = this._ids.get(index);
    let card = this._cards.get(id);
    if (card === undefined) {
      const entry = this._entries.get(id)!;
      card = this._options.makeCard(entry);
      this._cards.set(id, card);
    }
    this._setPosition(card, index + 1, this._options.hasMore() ? -1 : this._ids.length);
    return card;
  }

  /** Set attributes only where they change, because JupyterLab asks for every card whenever it draws. */
  private _setPosition(card: ICard, place: number, size: number): void {
    if (card.position?.[0] !== place || card.position[1] !== size) {
      card.position = [place, size];
      card.node.setAttribute('aria-posinset', String(place));
      card.node.setAttribute('aria-setsize', String(size));
    }
  }

  private _onFocus(target: HTMLElement): void {
    const id = target.closest<HTMLElement>('[data-entry-id]')?.dataset.entryId;
    if (id) {
      this._goal = id;
      this._place = this._ids.indexOf(id);
    }
    if (target === this.node) {
      // A card gives its focus to the list just before it is removed.
      queueMicrotask(() => {
        const card = this._cards.get(this._goal);
        if (card && !card.isAttached && document.activeElement === this.node) {
          this._stand(card);
        }
      });
    }
  }

  /** Name a card to screen readers while the list has its focus, because new rows pushed the card out of the page. */
  private _stand(card: ICard | null): void {
    if (!card) {
      this._standIn.remove();
      this.node.removeAttribute('role');
      this.node.removeAttribute('aria-activedescendant');
      return;
    }
    for (const name of ['aria-label', 'aria-posinset', 'aria-setsize']) {
      this._standIn.setAttribute(name, card.node.getAttribute(name) ?? '');
    }
    this.node.append(this._standIn);
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-activedescendant', this._standIn.id);
  }

  /** Up and down go from card to card, as in other lists; Enter unfolds one. */
  private _onKey(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    // Keys count from the card that is about to get the focus: the next key may be pressed before it has it.
    const isOfList = target === this.node || target.dataset.entryId !== undefined;
    if (!isOfList || this._place < 0 || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const listed = this._ids.indexOf(this._goal);
    const at = listed < 0 ? this._place : listed;
    const goals: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this._ids.length - 1 };
    // By itself, Tab would go on from the list's first card.
    const returns = event.key === 'Tab' && !event.shiftKey && this._standIn.isConnected;
    if (returns) {
      void this.focusCard(at);
    } else if (event.key in goals) {
      void this.focusCard(goals[event.key]);
    } else if (event.key === 'Enter' || event.key === ' ') {
      // New rows may have pushed the card out of view, where nobody would see it unfold.
      const inSight = this._cards.get(this._goal)?.isAttached ? Promise.resolve() : this.focusCard(at);
      void inSight.then(() => this._cards.get(this._goal)?.toggle());
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private _ids: Ids;
  private _entries = new Map<string, Row>();
  private _cards = new Map<string, ICard>();
  private _clock = 0;
  private readonly _standIn = madeStandIn();
  /** The id of the card that was focused last, or is about to be. */
  private _goal = '';
  /** The index of that card at that time, used once the card is gone; -1 before any card was focused. */
  private _place = -1;
}

function madeStandIn(): HTMLElement {
  const made = element('div', 'jp-fstools-CardList-standIn');
  made.id = UUID.uuid4();
  made.setAttribute('role', 'article');
  return made;
}

export namespace CardList {
  /** Options of a list. */
  export interface IOptions {
    /** Its name for screen readers. */
    label: string;
    makeCard(entry: Row): ICard;
    /** Called when the end of the list comes into view. */
    loadMore(): void;
    hasMore(): boolean;
  }
}
