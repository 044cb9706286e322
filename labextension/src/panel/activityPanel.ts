/** The side panel: what assistants do to the files, as it happens, with what a person can do about it. */

import { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import type { ICardActions } from './activityCard';
import type { Change } from '../payloads';
import type { IDecisionParts } from './decideEverything';
import type { Decision } from '../feed/requests';
import type { Entry } from '../feed/tokens';

import { ActivityCard } from './activityCard';
import { CardList } from './cardList';
import { decideAll, isOffered } from './decideEverything';
import { element } from '../element';
import { FilterBar } from './filterBar';
import { reconcile } from './reconcile';

const PRESSED = ':is(.jp-fstools-Card, .jp-fstools-Button):active';

/** Lists the feed's entries as cards. */
export class ActivityPanel extends Panel {
  constructor(options: ActivityPanel.IOptions) {
    super();
    const { feed, trans } = options;
    this.id = 'jupyter-fstools-activity';
    this.addClass('jp-fstools-Panel');
    this._options = options;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('File tools'));
    this._filterBar = new FilterBar(feed.filter, trans);
    this._filterBar.chosen.connect((_, filter) => {
      feed.filter = filter;
    });
    this._waiting = new Widget({ node: element('div', 'jp-fstools-Panel-waiting') });
    this._waiting.node.setAttribute('aria-live', 'polite');
    this._problem = new Widget({ node: element('div', 'jp-fstools-Panel-problem') });
    this._problem.node.setAttribute('role', 'status');
    this._nothing = new Widget({ node: element('div', 'jp-fstools-Panel-nothing') });
    this._list = new CardList({
      label: trans.__('What assistants did'),
      makeCard: entry => this._made(entry),
      loadMore: () => void feed.loadMore(),
      hasMore: () => feed.hasMore
    });
    this._list.addClass('jp-fstools-Panel-list');
    for (const widget of [this._filterBar, this._waiting, this._problem, this._nothing, this._list]) {
      this.addWidget(widget);
    }
    feed.changed.connect(this._onChanged, this);
    this._render();
  }

  override dispose(): void {
    this._options.feed.changed.disconnect(this._onChanged, this);
    super.dispose();
  }

  /** Emitted when the panel comes into sight or goes. */
  readonly seen = new Signal<this, boolean>(this);

  /** What the server says of approval, to be shown above the list. */
  set approval(text: string) {
    this._approval = text;
    this._renderWaiting();
  }

  protected override onActivateRequest(message: Message): void {
    this._wantsFocus = true;
    this._render();
  }

  protected override onAfterShow(message: Message): void {
    this.seen.emit(true);
    this._onChanged();
  }

  protected override onAfterAttach(message: Message): void {
    this.seen.emit(this.isVisible);
  }

  protected override onAfterHide(message: Message): void {
    this.seen.emit(false);
  }

  private _onChanged(): void {
    // Cards are made for who looks; many news at once are one change of the page.
    if (!this._isScheduled && this.isVisible) {
      this._isScheduled = true;
      this._renderSoon();
    }
  }

  private _renderSoon(): void {
    requestAnimationFrame(() => {
      // News would move what a person is pressing, and the press would end on something else.
      if (this.node.querySelector(PRESSED)) {
        this._renderSoon();
        return;
      }
      this._isScheduled = false;
      if (!this.isDisposed) {
        this._render();
      }
    });
  }

  private _render(): void {
    const { feed } = this._options;
    this._list.entries = feed.entries;
    this._list.node.setAttribute('aria-busy', String(feed.isLoading));
    reconcile(this._nothing.node, [new Text(this._whyNothing())]);
    reconcile(this._problem.node, [new Text(feed.problem)]);
    this._filterBar.filter = feed.filter;
    this._filterBar.sessions = feed.sessions;
    this._renderWaiting();
    if (this._wantsFocus && !feed.isLoading) {
      this._wantsFocus = false;
      this._takeFocus();
    }
  }

  private _takeFocus(): void {
    if (this._options.feed.entries.length) {
      void this._list.focusCard(0);
    } else {
      this._filterBar.node.querySelector<HTMLElement>(':enabled')?.focus();
    }
  }

  private _whyNothing(): string {
    const { feed, trans } = this._options;
    if (feed.entries.length || feed.problem) {
      return '';
    }
    if (feed.isLoading) {
      return trans.__('Loading…');
    }
    const { session, path, status } = feed.filter;
    return [session, path, status].some(part => part !== undefined)
      ? trans.__('Nothing matches the filter.')
      : trans.__('Nothing yet. What assistants read and change here appears by itself.');
  }

  private _renderWaiting(): void {
    const { feed, trans, words } = this._options;
    const { node } = this._waiting;
    const said = feed.waiting ? words.waiting(feed.waiting) : this._approval;
    node.dataset.waiting = String(feed.waiting);
    const children: HTMLElement[] = [element('span', 'jp-fstools-Panel-said', said)];
    if (isOffered(feed)) {
      children.push(
        this._decideAllButton('approve', trans.__('Approve all')),
        this._decideAllButton('reject', trans.__('Reject all'))
      );
    }
    reconcile(node, children);
  }

  private _decideAllButton(decision: Decision, label: string): HTMLButtonElement {
    const button = element('button', 'jp-fstools-Button', label);
    button.dataset.action = `${decision}-all`;
    button.onclick = () => void this._options.decideEverything(decision);
    return button;
  }

  private _made(entry: Entry): ActivityCard {
    const { feed, server, open, showDiff, trans } = this._options;
    const actions: ICardActions = {
      decide: async (id, decision) => {
        try {
          feed.note(await server.decide(id, decision));
        } catch (error) {
          // Somebody else may have decided: what stands now is shown beside the reason.
          void server.change(id).then(
            change => feed.note(change),
            () => undefined
          );
          throw error;
        }
      },
      approveSession: session => decideAll(this._options, 'approve', { ...feed.filter, session }),
      load: async id => {
        const change = await server.change(id);
        // A cut diff shows removals first: what would be written may not be in it at all.
        return change.diff.truncated ? server.wholeChange(id).catch(() => change) : change;
      },
      show: change => showDiff(change),
      open
    };
    return new ActivityCard(entry, actions, this._options.words, trans);
  }

  private _options: ActivityPanel.IOptions;
  private _filterBar: FilterBar;
  private _waiting: Widget;
  private _problem: Widget;
  private _nothing: Widget;
  private _list: CardList;
  private _approval = '';
  private _isScheduled = false;
  /** Whether the keyboard is to come here once it is known what is listed. */
  private _wantsFocus = false;
}

export namespace ActivityPanel {
  /** What a panel is made of. */
  export interface IOptions extends IDecisionParts {
    /** Open a file of the tools' root. */
    open(path: string): Promise<void>;
    /** A view of what a change did. */
    showDiff(change: Change): Promise<Widget>;
    /** Ask the person whether they mean it, then decide about all that waits in the list. */
    decideEverything(decision: Decision): Promise<void>;
  }
}
