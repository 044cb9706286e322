/** Sums up a turn above its files, with buttons for all of it. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChangeEvent } from '../payloads';
import type { Decision } from '../feed/requests';
import type { ITurn } from './turns';
import type { Words } from './words';

import { Card } from './card';
import { countsOfLines, timeOf } from './cardHead';
import { plainLine } from './commandText';
import { actionButton, element } from '../element';
import { reconcile } from './reconcile';
import { countsOf } from './turns';

/** Actions that a turn's card asks of its panel. */
export interface ITurnActions {
  /** The changes to which a step applies now. */
  fit(step: Decision, changes: readonly ChangeEvent[]): ChangeEvent[];
  /** Apply a step to those changes that it fits, if the person confirms it. */
  decideAll(step: Decision, changes: readonly ChangeEvent[]): Promise<void>;
  /** How many changes wait in the whole list. */
  waiting(): number;
  isUnfolded(turn: ITurn): boolean;
  /** List the turn's reads and refusals, or leave them out again. */
  toggle(turn: ITurn): void;
}

/** Shows one turn in a row or two. */
export class TurnCard extends Card {
  constructor(
    turn: ITurn,
    private _actions: ITurnActions,
    private _words: Words,
    private _trans: TranslationBundle
  ) {
    super(turn.id, 'jp-fstools-Turn');
    this.node.addEventListener('click', event => this._onClick(event));
    this._turn = turn;
  }

  /** The turn that is shown. */
  get entry(): ITurn {
    return this._turn;
  }

  set entry(turn: ITurn) {
    this._turn = turn;
    this.update();
  }

  /** List the turn's reads and refusals, or leave them out again. */
  async toggle(): Promise<void> {
    this._actions.toggle(this._turn);
    this.update();
  }

  private _onClick(event: MouseEvent): void {
    const action = (event.target as HTMLElement).closest<HTMLButtonElement>('button')?.dataset.action;
    if (action === 'fold') {
      void this.toggle();
    } else if (action !== undefined) {
      void this._actions.decideAll(action.replace('-turn', '') as Decision, this._turn.changes);
    }
  }

  protected override draw(): void {
    const { _turn: turn, _words: words } = this;
    const hadFocus = this.node.contains(document.activeElement);
    this.node.setAttribute('aria-label', words.turn(turn));
    reconcile(this.node, [this._summary(), ...this._buttons()]);
    if (hadFocus && !this.node.contains(document.activeElement)) {
      this.node.focus();
    }
  }

  private _summary(): HTMLElement {
    const { _turn: turn, _words: words } = this;
    const { files, commands, added, removed } = countsOf(turn);
    const summary = element('div', 'jp-fstools-Turn-summary');
    summary.append(plainLine('jp-fstools-Turn-session', words.who(turn)));
    if (files + commands) {
      summary.append(element('span', 'jp-fstools-Turn-files', words.filesAndCommands(files, commands)));
    }
    if (files) {
      summary.append(countsOfLines(added, removed));
    }
    summary.append(timeOf(turn.at));
    if (turn.reads.length + turn.refusals.length) {
      summary.append(this._foldButton());
    }
    return summary;
  }

  private _foldButton(): HTMLButtonElement {
    const { _turn: turn, _words: words } = this;
    const isRefused = turn.refusals.some(({ repaired }) => !repaired);
    const fold = element('button', 'jp-fstools-Turn-others', words.others(turn));
    fold.classList.toggle('jp-mod-refused', isRefused);
    fold.dataset.action = 'fold';
    fold.title = this._trans.__('Reads, refused calls, and refused calls that were repaired afterwards');
    fold.setAttribute('aria-expanded', String(this._actions.isUnfolded(turn)));
    return fold;
  }

  private _buttons(): HTMLElement[] {
    const { _turn: turn, _trans: trans, _actions: actions } = this;
    const waits = actions.fit('reject', turn.changes).length;
    const row = element('div', 'jp-fstools-Turn-buttons');
    // If nothing else waits, the line above the list already offers the same.
    if (waits > 1 && waits < actions.waiting()) {
      const seen = actions.fit('approve', turn.changes).length;
      row.append(approveAllButton('approve-turn', seen, waits, trans));
      row.append(actionButton('reject-turn', trans.__('Reject all (%1)', waits)));
    }
    if (actions.fit('keep', turn.changes).length) {
      row.append(actionButton('keep-turn', trans.__('Keep all')));
    }
    if (actions.fit('undo', turn.changes).length) {
      row.append(actionButton('undo-turn', trans.__('Undo all')));
    }
    return row.hasChildNodes() ? [row] : [];
  }

  private _turn: ITurn;
}

/** A button that approves the changes whose diffs were shown, and says how many of all these are. */
export function approveAllButton(action: string, seen: number, waits: number, trans: TranslationBundle): HTMLElement {
  const isAll = seen === waits;
  const label = isAll ? trans.__('Approve all (%1)', waits) : trans.__('Approve %1 of %2', seen, waits);
  const approve = actionButton(action, label);
  approve.classList.toggle('jp-mod-primary', isAll);
  approve.disabled = !seen;
  approve.title = isAll
    ? ''
    : trans.__('Only changes whose diff was shown, and that are not out of date, are approved');
  return approve;
}
