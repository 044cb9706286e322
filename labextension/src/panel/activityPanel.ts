/** Lists in a side panel what assistants do to files, as it happens. */

import type { LabIcon } from '@jupyterlab/ui-components';

import { addIcon, usersIcon } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import type { ICardActions } from './activityCard';
import type { IDecisionParts } from './decideEverything';
import type { CardEntry } from './cardHead';
import type { IStanding } from '../feed/requests';
import type { Entry, IActivityFilter } from '../feed/tokens';
import type { ITurnActions } from './turnCard';
import type { ITurn } from './turns';

import { ActivityCard } from './activityCard';
import { isNarrow, pathsOf } from '../feed/entries';
import { CardList } from './cardList';
import { connectAssistant } from './connectDialog';
import { decide, decideAll, fit, waitingIn } from './decideEverything';
import { actionButton, element } from '../element';
import { FilterBar } from './filterBar';
import { reconcile } from './reconcile';
import { showTokens } from './tokensDialog';
import { approveAllButton, TurnCard } from './turnCard';
import { rowsOf, turnsOf } from './turns';

const PRESSED = ':is(.jp-fstools-Card, .jp-fstools-Turn, .jp-fstools-Button):active';

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
    this._filterBar = new FilterBar(feed.filter, trans, options.kinds);
    this._filterBar.chosen.connect((_, filter) => options.choose(filter));
    this._filterBar.node.append(
      iconButton('connect', addIcon, trans.__('Connect an assistant…'), () => void connectAssistant(options)),
      iconButton('tokens', usersIcon, trans.__('Tokens of assistants…'), () => void showTokens(options))
    );
    this._waiting = new Widget({ node: element('div', 'jp-fstools-Panel-waiting') });
    this._waiting.node.setAttribute('aria-live', 'polite');
    this._problem = new Widget({ node: element('div', 'jp-fstools-Panel-problem') });
    this._problem.node.setAttribute('role', 'status');
    this._nothing = new Widget({ node: element('div', 'jp-fstools-Panel-nothing') });
    this._list = new CardList({
      label: trans.__('What assistants did'),
      makeCard: row => (row.kind === 'turn' ? this._madeTurn(row) : this._made(row)),
      loadMore: () => void feed.loadMore(),
      hasMore: () => feed.hasMore
    });
    this._list.addClass('jp-fstools-Panel-list');
    for (const widget of [this._filterBar, this._waiting, this._problem, this._nothing, this._list]) {
      this.addWidget(widget);
    }
    feed.changed.connect(this._onChanged, this);
    feed.heard.connect((_, paths) => this._lookAgain(entry => !paths || touches(entry, paths)), this);
    feed.typedOver.connect((_, ids) => this._lookAgain(({ id }) => ids.has(id)), this);
    this._render();
  }

  /** Emitted when the panel is shown (true) or hidden (false). */
  readonly seen = new Signal<this, boolean>(this);

  /** The server's setting of approval in words, shown above the list while nothing waits. */
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
    this._lookAgain(() => true);
  }

  protected override onAfterAttach(message: Message): void {
    this.seen.emit(this.isVisible);
  }

  protected override onAfterHide(message: Message): void {
    this.seen.emit(false);
  }

  /** Check unfolded cards again, as their files may have been written. */
  private _lookAgain(isMeant: (entry: CardEntry) => boolean): void {
    for (const card of this._list.cards) {
      if (card instanceof ActivityCard && isMeant(card.entry)) {
        card.lookAgain();
      }
    }
  }

  private _onChanged(): void {
    // Render only while somebody looks, and many changes at once in one frame.
    if (!this._isScheduled && this.isVisible) {
      this._isScheduled = true;
      this._renderSoon();
    }
  }

  private _renderSoon(): void {
    requestAnimationFrame(() => {
      // Wait while a button is pressed: new rows would move it, and the press would end on something else.
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
    this._list.entries = rowsOf(turnsOf(feed.entries), turn => this._isUnfolded(turn));
    if (!feed.entries.length && feed.hasMore) {
      void feed.loadMore();
    }
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
      // The first row is a turn's summary.
      void this._list.focusCard(1);
    } else {
      this._filterBar.node.querySelector<HTMLElement>(':enabled')?.focus();
    }
  }

  private _whyNothing(): string {
    const { feed, trans } = this._options;
    if (feed.entries.length || feed.problem) {
      return '';
    }
    if (feed.isLoading || feed.hasMore) {
      return trans.__('Loading…');
    }
    return isNarrow(feed.filter) || feed.filter.kinds.length < this._options.kinds().length
      ? trans.__('Nothing matches the filter.')
      : trans.__('Nothing yet. Reads and changes by assistants appear here as they happen.');
  }

  private _renderWaiting(): void {
    const { feed, trans, words } = this._options;
    const { node } = this._waiting;
    const waiting = waitingIn(feed);
    const stale = waiting.filter(change => change.stale).length;
    const said = [
      ...(feed.waiting ? [words.waiting(feed.waiting)] : []),
      ...(stale ? [trans.__('%1 out of date', stale)] : [])
    ];
    node.dataset.waiting = String(feed.waiting);
    const children: HTMLElement[] = [
      element('span', 'jp-fstools-Panel-said', said.length ? said.join(' · ') : this._approval)
    ];
    if (waiting.length) {
      const approve = approveAllButton(
        'approve-all',
        fit('approve', waiting, this._options).length,
        waiting.length,
        trans
      );
      const reject = actionButton('reject-all', trans.__('Reject all (%1)', waiting.length));
      approve.onclick = () => void decideAll(this._options, 'approve', waitingIn(feed));
      reject.onclick = () => void decideAll(this._options, 'reject', waitingIn(feed));
      children.push(approve, reject);
    }
    const hadFocus = node.contains(document.activeElement);
    reconcile(node, children);
    if (hadFocus && !node.querySelector(':focus:enabled')) {
      // The pressed button is gone, or has nothing left to do.
      this._takeFocus();
    }
  }

  private _isUnfolded(turn: ITurn): boolean {
    const isAllThereIs = !turn.changes.length && !this._options.feed.filter.kinds.includes('change');
    return this._toggled.has(turn.id) !== isAllThereIs;
  }

  private _madeTurn(turn: ITurn): TurnCard {
    const { _options: options } = this;
    const actions: ITurnActions = {
      fit: (step, changes) => fit(step, changes, options),
      decideAll: (step, changes) => decideAll(options, step, changes),
      waiting: () => waitingIn(options.feed).length,
      isUnfolded: one => this._isUnfolded(one),
      toggle: ({ id }) => {
        if (!this._toggled.delete(id)) {
          this._toggled.add(id);
        }
        this._render();
      }
    };
    return new TurnCard(turn, actions, options.words, options.trans);
  }

  private _made(entry: CardEntry): ActivityCard {
    const { feed, server, open, compare, showDiff, trans } = this._options;
    const actions: ICardActions = {
      decide: async (id, decision) => {
        try {
          feed.note(await decide(this._options, decision, id));
        } catch (error) {
          // Somebody else may have decided, or the file may have changed: show the current state beside the reason.
          void server.change(id).then(
            change => feed.note(change),
            () => undefined
          );
          throw error;
        }
      },
      load: async id => {
        const standing = await server.standing(id);
        // A cut diff shows removals first, so the text to be written may be missing from it.
        return { ...standing, change: await server.whole(standing.change) };
      },
      download: async (id, paths) => {
        for (const path of paths) {
          save(await server.content(id, path), path);
        }
      },
      show: standing => showDiff(standing),
      isTypedOver: id => feed.staleHere.has(id),
      wasShown: id => feed.shown.has(id),
      noteShown: id => feed.noteShown(id),
      open,
      compare
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
  /** Ids of the turns whose reads and refusals the person has unfolded, or folded where they were unfolded. */
  private _toggled = new Set<string>();
  private _isScheduled = false;
  /** Whether the panel is to take the focus once the list is loaded. */
  private _wantsFocus = false;
}

function touches(entry: CardEntry, paths: readonly string[]): boolean {
  return pathsOf(entry).some(path => paths.includes(path));
}

/** Have the browser save downloaded content as a file. */
function save(content: Blob, path: string): void {
  const link = element('a', '');
  link.href = URL.createObjectURL(content);
  link.download = path.slice(path.lastIndexOf('/') + 1);
  link.click();
  URL.revokeObjectURL(link.href);
}

function iconButton(action: string, icon: LabIcon, title: string, press: () => void): HTMLButtonElement {
  const made = element('button', 'jp-fstools-Card-icon');
  made.dataset.action = action;
  made.title = title;
  made.setAttribute('aria-label', title);
  made.append(icon.element({ tag: 'span' }));
  made.onclick = press;
  return made;
}

export namespace ActivityPanel {
  /** Options of a panel. */
  export interface IOptions extends IDecisionParts {
    /** Open a file of the tools' root. */
    open(path: string): Promise<void>;
    /** Show a whole change in the main area. */
    compare(id: string): Promise<void>;
    /** A view of what a change did. */
    showDiff(standing: IStanding): Promise<Widget>;
    /** The kinds that are listed unless the person chooses one. */
    kinds(): readonly Entry['kind'][];
    /** Apply a filter to the list, and remember it. */
    choose(filter: IActivityFilter): void;
  }
}
