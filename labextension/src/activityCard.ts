/** One read, change or refusal in the panel, with what a person can do about it. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Time } from '@jupyterlab/coreutils';
import { launchIcon } from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import { Panel, PanelLayout, Widget } from '@lumino/widgets';

import type { Change, ChangeEvent } from './payloads';
import type { Entry } from './tokens';
import type { Words } from './words';

import { element } from './element';
import { RequestError } from './requests';

/** What a card asks of its panel. */
export interface ICardActions {
  /** Decide about a change; gives the change as it is then. */
  decide(id: string, decision: 'approve' | 'reject' | 'undo'): Promise<void>;
  approveSession(session: string): Promise<void>;
  open(path: string): Promise<void>;
  load(id: string): Promise<Change>;
  show(change: Change): Promise<Widget>;
}

/** Shows one entry; its diff is fetched when it is first unfolded. */
export class ActivityCard extends Widget {
  constructor(entry: Entry, actions: ICardActions, words: Words, trans: TranslationBundle) {
    super({ node: document.createElement('article') });
    this.addClass('jp-fstools-Card');
    this.layout = new PanelLayout();
    this.node.tabIndex = 0;
    this._entry = entry;
    this._actions = actions;
    this._words = words;
    this._trans = trans;
    this._head.node.addEventListener('click', event => this._onClick(event));
    (this.layout as PanelLayout).addWidget(this._head);
    this.node.dataset.entryId = entry.id;
  }

  /** What is shown. */
  get entry(): Entry {
    return this._entry;
  }

  /** Show a later state of the same entry. */
  set entry(entry: Entry) {
    if (entry === this._entry) {
      return;
    }
    // That somebody else decided is the reason for the state that is shown then.
    if (revisionOf(entry) !== revisionOf(this._entry) && !isConflict(this._problem)) {
      this._problem = null;
    }
    this._entry = entry;
    this.update();
  }

  /** Whether other changes of the same session wait as well. */
  set isOneOfSeveral(isOneOfSeveral: boolean) {
    if (isOneOfSeveral !== this._isOneOfSeveral) {
      this._isOneOfSeveral = isOneOfSeveral;
      this.update();
    }
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
      this._render();
      return;
    }
    const body = (this._body = new Panel());
    body.addClass('jp-fstools-Card-body');
    body.node.textContent = this._trans.__('Loading…');
    (this.layout as PanelLayout).addWidget(body);
    this._render();
    try {
      const shown = await this._actions.show(await this._actions.load(this._entry.id));
      if (this._body === body) {
        body.node.textContent = '';
        body.addWidget(shown);
      } else {
        shown.dispose();
      }
    } catch (error) {
      body.node.textContent = this._words.problem(error);
    }
  }

  /** Cards are drawn when they come into sight. */
  protected override onBeforeAttach(message: Message): void {
    this._render();
  }

  /** A card that leaves the page as the list is scrolled leaves the keyboard to the list. */
  protected override onBeforeDetach(message: Message): void {
    if (this.node.contains(document.activeElement)) {
      this.parent?.node.focus({ preventScroll: true });
    }
  }

  protected override onUpdateRequest(message: Message): void {
    if (this.isAttached) {
      this._render();
    }
  }

  protected override onActivateRequest(message: Message): void {
    this.node.focus();
  }

  private _onClick(event: MouseEvent): void {
    // A click on a button is the button's; one that ends a selection of text is no click.
    if (!(event.target as HTMLElement).closest('button') && !window.getSelection()?.toString()) {
      void this.toggle();
    }
  }

  private _render(): void {
    const { _entry: entry, _words: words } = this;
    const { dataset } = this.node;
    dataset.kind = entry.kind;
    if (entry.kind === 'change') {
      dataset.changeId = entry.id;
      dataset.status = entry.status;
    }
    this.node.setAttribute('aria-label', words.sentence(entry));
    const hadFocus = this.node.contains(document.activeElement);
    const focused = document.activeElement?.closest<HTMLElement>('[data-action]')?.dataset.action;
    this._head.node.replaceChildren(this._title(), this._facts(), ...this._messages(), ...this._buttons());
    if (hadFocus && !this.node.contains(document.activeElement)) {
      // A button that is disabled or gone leaves the keyboard to the card.
      const again = this.node.querySelector<HTMLButtonElement>(`[data-action="${focused}"]:enabled`);
      (again ?? this.node).focus();
    }
  }

  private _title(): HTMLElement {
    const { _entry: entry, _words: words, _trans: trans } = this;
    const title = element('div', 'jp-fstools-Card-title');
    if (entry.kind === 'change') {
      const fold = element('button', 'jp-fstools-Card-fold');
      fold.dataset.action = 'fold';
      fold.setAttribute('aria-expanded', String(this.isUnfolded));
      fold.setAttribute('aria-label', this.isUnfolded ? trans.__('Hide the diff') : trans.__('Show the diff'));
      fold.onclick = () => void this.toggle();
      title.append(fold);
    }
    const slash = entry.path?.lastIndexOf('/') ?? -1;
    const name = element('span', 'jp-fstools-Card-name', entry.path?.slice(slash + 1) ?? words.noFile(entry));
    const folder = element('span', 'jp-fstools-Card-folder', slash > 0 ? entry.path?.slice(0, slash) : '');
    title.title = entry.path ?? '';
    title.append(element('span', 'jp-fstools-Card-verb', words.verb(entry)), name, folder);
    if (entry.kind === 'change' && entry.op !== 'execute') {
      const counts = element('span', 'jp-fstools-Card-counts');
      counts.append(
        element('span', 'jp-fstools-Card-added', `+${entry.added.toLocaleString()}`),
        element('span', 'jp-fstools-Card-removed', `−${entry.removed.toLocaleString()}`)
      );
      title.append(counts);
    }
    title.append(...this._openButton());
    return title;
  }

  private _facts(): HTMLElement {
    const { _entry: entry, _words: words } = this;
    const facts = element('div', 'jp-fstools-Card-facts');
    const status = words.status(entry);
    if (status) {
      facts.append(element('span', 'jp-fstools-Card-status', status));
    }
    const when = new Date(entry.at * 1000);
    const time = element('time', 'jp-fstools-Card-time', Time.formatHuman(when));
    time.dateTime = when.toISOString();
    time.title = Time.format(when);
    facts.append(element('span', 'jp-fstools-Card-detail', words.detail(entry)), time);
    return facts;
  }

  private _messages(): HTMLElement[] {
    const said: HTMLElement[] = [];
    if (this._entry.kind === 'refusal') {
      said.push(element('div', 'jp-fstools-Card-refusal', this._entry.message));
    }
    if (this._problem) {
      const problem = element('div', 'jp-fstools-Card-problem');
      problem.setAttribute('role', 'alert');
      problem.append(element('div', '', this._words.problem(this._problem)));
      const diff = this._problem instanceof RequestError ? this._problem.refusal.details.diff : undefined;
      if (diff) {
        problem.append(element('pre', 'jp-fstools-Card-changedSince', diff));
      }
      said.push(problem);
    }
    return said;
  }

  private _openButton(): HTMLElement[] {
    const { _entry: entry, _trans: trans, _actions: actions } = this;
    const { path } = entry;
    const isFile =
      entry.kind === 'refusal' ? entry.code !== 'not_found' : entry.kind === 'read' || entry.op !== 'execute';
    if (path === null || !isFile) {
      return [];
    }
    const button = this._button('open', trans.__('Open file'), () => actions.open(path));
    button.className = 'jp-fstools-Card-open';
    button.title = trans.__('Open file');
    button.replaceChildren(launchIcon.element({ tag: 'span' }));
    return [button];
  }

  private _buttons(): HTMLElement[] {
    const buttons = this._entry.kind === 'change' ? this._decisions(this._entry) : [];
    if (!buttons.length) {
      return [];
    }
    const row = element('div', 'jp-fstools-Card-buttons');
    row.append(...buttons);
    return [row];
  }

  private _decisions(entry: ChangeEvent): HTMLElement[] {
    const { _trans: trans, _actions: actions } = this;
    const decide = (decision: 'approve' | 'reject' | 'undo') => () => actions.decide(entry.id, decision);
    if (entry.status === 'proposed') {
      const buttons = [
        this._button('approve', trans.__('Approve'), decide('approve')),
        this._button('reject', trans.__('Reject'), decide('reject'))
      ];
      if (this._isOneOfSeveral) {
        const approveSession = () => actions.approveSession(entry.session);
        buttons.push(this._button('approve-session', trans.__('Approve all of this session'), approveSession));
      }
      return buttons;
    }
    if (entry.status === 'applied' && entry.undoable) {
      return [this._button('undo', trans.__('Undo'), decide('undo'))];
    }
    return [];
  }

  private _button(action: string, label: string, act: () => Promise<void>): HTMLButtonElement {
    const button = element('button', 'jp-fstools-Button', label);
    button.dataset.action = action;
    button.setAttribute('aria-label', `${label}: ${this._entry.path ?? ''}`);
    button.disabled = this._isBusy;
    button.onclick = async () => {
      this._isBusy = true;
      this._problem = null;
      this._render();
      try {
        await act();
      } catch (error) {
        this._problem = error;
      } finally {
        this._isBusy = false;
        if (!this.isDisposed) {
          this._render();
        }
      }
    };
    return button;
  }

  private _entry: Entry;
  private _actions: ICardActions;
  private _words: Words;
  private _trans: TranslationBundle;
  private _head = new Widget({ node: element('div', 'jp-fstools-Card-head') });
  private _body: Panel | null = null;
  private _problem: unknown = null;
  private _isOneOfSeveral = false;
  private _isBusy = false;
}

function revisionOf(entry: Entry): number | null {
  return entry.kind === 'change' ? entry.revision : null;
}

function isConflict(problem: unknown): boolean {
  return problem instanceof RequestError && problem.refusal.code === 'conflict';
}
