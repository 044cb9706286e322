/** Draws one read, change or refusal in the panel, with its buttons. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { JSONExt } from '@lumino/coreutils';
import { Message } from '@lumino/messaging';
import { Panel, PanelLayout, Widget } from '@lumino/widgets';

import type { IStanding } from '../feed/requests';
import type { Change } from '../payloads';
import type { CardEntry, ICardState } from './cardHead';
import type { Words } from './words';

import { Card } from './card';
import { headOf } from './cardHead';
import { commandOf, isCommand } from './commandText';
import { filesOf, isCut } from '../feed/changedFiles';
import { hidesRows, ROWS_AT_FIRST, SHOWN_ALL } from '../diff/showAll';
import { element } from '../element';
import { reconcile } from './reconcile';
import { RequestError } from '../feed/requests';
import { StandingLook } from '../feed/soon';

/** Actions that a card asks of its panel. */
export interface ICardActions {
  /** Decide about a change, and list it as it is then. */
  decide(id: string, decision: 'approve' | 'reject' | 'undo'): Promise<void>;
  open(path: string): Promise<void>;
  /** Show a whole change in the main area. */
  compare(id: string): Promise<void>;
  load(id: string): Promise<IStanding>;
  /** Save files as a change leaves them. */
  download(id: string, paths: string[]): Promise<void>;
  show(standing: IStanding): Promise<Widget>;
  /** Whether a proposal does not fit a document as it is on this page. */
  isTypedOver(id: string): boolean;
  /** Whether the person was shown a change in full. */
  wasShown(id: string): boolean;
  noteShown(id: string): void;
}

/** Shows one entry; its diff is loaded when it is unfolded, that of a command also to name it. */
export class ActivityCard extends Card {
  constructor(entry: CardEntry, actions: ICardActions, words: Words, trans: TranslationBundle) {
    super(entry.id, 'jp-fstools-Card');
    this.layout = new PanelLayout();
    this._entry = entry;
    this._actions = actions;
    this._words = words;
    this._trans = trans;
    this._head.node.addEventListener('click', event => this._onClick(event));
    this.node.addEventListener(SHOWN_ALL, () => this._noteSeen());
    (this.layout as PanelLayout).addWidget(this._head);
  }

  /** The entry that is shown. */
  get entry(): CardEntry {
    return this._entry;
  }

  /** Show a later state of the same entry. */
  set entry(entry: CardEntry) {
    // The change may have been shown in full elsewhere since the card was drawn.
    const isDrawn = this._actions.wasShown(entry.id) === this.hasClass('jp-mod-seen');
    if (isDrawn && JSONExt.deepEqual({ ...entry }, { ...this._entry })) {
      return;
    }
    const isLater = revisionOf(entry) !== revisionOf(this._entry);
    // The message of a conflict stays: it explains the new state, which somebody else decided.
    if (isLater && !isConflict(this._problem)) {
      this._problem = null;
    }
    const hasEnded = isCommand(entry) && isCommand(this._entry) && entry.exit_code !== this._entry.exit_code;
    const isOtherwise = isLater || hasEnded || isStale(entry) !== isStale(this._entry);
    this._entry = entry;
    this.update();
    if (isOtherwise && this._body) {
      void this._fill(this._body);
    }
  }

  /** Check an unfolded proposal again, as its files may have been written since. */
  lookAgain(): void {
    if (this._body && this.isVisible && this._waits) {
      this._look.ask();
    }
  }

  override dispose(): void {
    this._look.dispose();
    super.dispose();
  }

  get isUnfolded(): boolean {
    return this._body !== null;
  }

  /** Show the diff, or hide it again. */
  async toggle(): Promise<void> {
    if (this._entry.kind !== 'change') {
      return;
    }
    if (this._body) {
      this._body.dispose();
      this._body = null;
      this.draw();
      return;
    }
    const body = (this._body = new Panel());
    this._shown = '';
    body.addClass('jp-fstools-Card-body');
    body.node.textContent = this._trans.__('Loading…');
    (this.layout as PanelLayout).addWidget(body);
    this.draw();
    await this._fill(body);
  }

  private async _fill(body: Panel): Promise<void> {
    const asked = ++this._asks;
    try {
      const standing = await this._load();
      const { change, changed_since } = standing;
      const spelled = JSON.stringify([change.status, change.decided, change.ran, changed_since]);
      const isUntold = this._actions.isTypedOver(change.id) && !changed_since.length;
      if (isUntold && this.isVisible) {
        this._look.askAgain(); // The server does not know yet what was typed in the document's page.
      }
      if (spelled === this._shown) {
        return;
      }
      const shown = await this._actions.show(standing);
      // The answer to an earlier request may come later; ignore it.
      if (this._body === body && asked === this._asks) {
        this._shown = spelled;
        [...body.widgets].forEach(earlier => earlier.dispose());
        body.node.textContent = '';
        body.addWidget(shown);
        this._isCut = isCut(change);
        if (this._isCut && change.status === 'proposed') {
          body.addWidget(this._downloadButton(change));
        }
        this._noteSeen();
      } else {
        shown.dispose();
      }
    } catch (error) {
      // Keep what is already shown: the person may be reading it.
      if (!this._shown) {
        body.node.textContent = this._words.problem(error);
      }
    }
  }

  protected override onAfterAttach(message: Message): void {
    if (isCommand(this._entry) && this._command === null) {
      void this._nameCommand();
    }
    this.lookAgain();
  }

  protected override onActivateRequest(message: Message): void {
    this.node.focus();
  }

  /** A change that no diff shows in full can be approved once it was downloaded. */
  private _downloadButton(change: Change): Widget {
    const button = element('button', 'jp-fstools-Diff-download', this._trans.__('Download all of it, to approve it'));
    button.dataset.action = 'download';
    button.onclick = async event => {
      event.stopPropagation();
      button.disabled = true;
      try {
        const paths = filesOf(change).map(({ path }) => path);
        await this._actions.download(change.id, paths);
        this._isCut = false;
        this._noteSeen();
      } catch (error) {
        this._problem = error;
        this.draw();
      } finally {
        button.disabled = false;
      }
    };
    return new Widget({ node: button });
  }

  /** Record the change as shown in full, unless a part of it is cut or hidden. */
  private _noteSeen(): void {
    if (this._body && !this._isCut && !hidesRows(this._body.node)) {
      this._actions.noteShown(this._entry.id);
      this.draw();
    }
  }

  /** Load a command to name it; unfold one that waits, so that nobody approves it unseen. */
  private async _nameCommand(): Promise<void> {
    await (this._waits && !this._body ? this.toggle() : this._load().catch(() => undefined));
  }

  private async _load(): Promise<IStanding> {
    const standing = await this._actions.load(this._entry.id);
    if (isCommand(this._entry)) {
      this._command = commandOf(standing.change);
      this.update();
    }
    return standing;
  }

  private _onClick(event: MouseEvent): void {
    const button = (event.target as HTMLElement).closest<HTMLButtonElement>('button');
    // A click that ends a selection of text does not fold the card.
    if (button?.dataset.action === 'fold' || (!button && !window.getSelection()?.toString())) {
      void this.toggle();
    } else if (button && !this._isBusy) {
      void this._act(button.dataset.action!);
    }
  }

  private async _act(action: string): Promise<void> {
    this._isBusy = true;
    this._problem = null;
    this.draw();
    try {
      await this._asked(action);
    } catch (error) {
      this._problem = error;
    } finally {
      this._isBusy = false;
      if (!this.isDisposed) {
        this.draw();
      }
    }
  }

  private _asked(action: string): Promise<void> {
    const { _entry: entry, _actions: actions } = this;
    switch (action) {
      case 'open':
        return actions.open(entry.path!);
      case 'compare':
        return actions.compare(entry.id);
      default:
        return actions.decide(entry.id, action as 'approve' | 'reject' | 'undo');
    }
  }

  protected override draw(): void {
    const { _entry: entry } = this;
    const { dataset } = this.node;
    dataset.kind = entry.kind;
    if (entry.kind === 'change') {
      dataset.changeId = entry.id;
      dataset.status = entry.status;
      this.toggleClass('jp-mod-failed', !!entry.exit_code);
    }
    if (entry.kind === 'refusal') {
      dataset.repaired = String(entry.repaired);
    }
    this.node.classList.toggle('jp-mod-seen', this._actions.wasShown(entry.id));
    this.node.setAttribute('aria-label', this._words.sentence(entry, this._command));
    const hadFocus = this.node.contains(document.activeElement);
    reconcile(this._head.node, headOf(this._state, this._words, this._trans));
    const { activeElement } = document;
    if (hadFocus && (!this.node.contains(activeElement) || activeElement!.matches(':disabled'))) {
      // The card takes the focus of a button that was disabled or removed.
      this.node.focus();
    }
  }

  private get _state(): ICardState {
    const { _entry: entry, _command: command, _problem: problem, isUnfolded } = this;
    return {
      entry,
      command,
      problem,
      isUnfolded,
      isBusy: this._isBusy,
      mustBeSeen: this._mustBeSeen
    };
  }

  private get _waits(): boolean {
    return this._entry.kind === 'change' && this._entry.status === 'proposed';
  }

  /** Whether a change that is large or unfolded must still be shown in full before it can be approved. */
  private get _mustBeSeen(): boolean {
    const { _entry: entry } = this;
    const isLarge = entry.kind === 'change' && (entry.truncated || entry.added + entry.removed > ROWS_AT_FIRST);
    return (isLarge || this._body !== null) && !this._actions.wasShown(entry.id);
  }

  private _entry: CardEntry;
  private _actions: ICardActions;
  private _words: Words;
  private _trans: TranslationBundle;
  private _head = new Widget({ node: element('div', 'jp-fstools-Card-head') });
  private _body: Panel | null = null;
  private _look = new StandingLook(async () => this._body && this._fill(this._body));
  /** Number of requests for the body, and the fingerprint of its content. */
  private _asks = 0;
  private _shown = '';
  private _command: string | null = null;
  private _problem: unknown = null;
  private _isBusy = false;
  private _isCut = false;
}

function isStale(entry: CardEntry): boolean {
  return entry.kind === 'change' && entry.stale;
}

function revisionOf(entry: CardEntry): number | null {
  return entry.kind === 'change' ? entry.revision : null;
}

function isConflict(problem: unknown): boolean {
  return problem instanceof RequestError && problem.refusal.code === 'conflict';
}
