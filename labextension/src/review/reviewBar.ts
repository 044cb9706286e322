/** Shows a bar below a document's toolbar: its changes, and decisions about all of them. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Widget } from '@lumino/widgets';

import type { Decision } from '../feed/requests';
import type { Change } from '../payloads';

import { actionButton, element } from '../element';
import { reconcile } from '../panel/reconcile';

/** Decisions about all changes of a document, or of the sessions that made them. */
export type BarDecision = Decision | 'keep-session' | 'undo-session';

/** Actions of the bar's buttons. */
export interface IBarActions {
  decideAll(decision: BarDecision): void;
  step(by: 1 | -1): void;
  /** Show a whole change in the main area. */
  compare(id: string): void;
  /** Hide the problem, which the person has read. */
  dismiss(): void;
}

/** State that the bar shows. */
export interface IBarState {
  waiting: readonly Change[];
  /** Applied changes of which the document still contains a part. */
  made: readonly Change[];
  /** Number of applied changes of which the document no longer contains anything. */
  gone: number;
  /** Number of waiting changes that no longer fit the document. */
  stale: number;
  /** Number of waiting changes that fit the document and are shown in it. */
  approvable: number;
  /** A waiting change of which the document shows nothing; null if there is none. */
  unshown: Change | null;
  /** Number of changes by the same sessions in other files. */
  elsewhere: number;
  problem: string;
}

/** Shows how many changes there are, and by whom; hidden while there is neither a change nor a problem. */
export class ReviewBar extends Widget {
  constructor(
    private _actions: IBarActions,
    private _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-fstools-ReviewBar');
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', _trans.__('Changes by assistants in this document'));
    this.node.onclick = event => this._onClick(event);
    this.node.append(this._row);
    // The layout gives a widget its minimum height, which grows when the row wraps.
    new ResizeObserver(() => {
      this.node.style.minHeight = `${this._row.offsetHeight}px`;
      this.parent?.fit();
    }).observe(this._row);
    this.hide();
  }

  tell(state: IBarState): void {
    const isWanted = state.waiting.length + state.made.length + state.gone > 0 || state.problem !== '';
    reconcile(this._row, isWanted ? this._parts(state) : []);
    this.setHidden(!isWanted);
  }

  private _parts(state: IBarState): HTMLElement[] {
    const { _trans: trans } = this;
    const { waiting, made, gone, stale, approvable, unshown, elsewhere, problem } = state;
    const sessions = [...new Set([...waiting, ...made].map(change => change.session))].join(', ');
    const count = waiting.length + made.length;
    const said = element('span', 'jp-fstools-ReviewBar-said');
    said.textContent = trans._n('%1 change by %2', '%1 changes by %2', count, sessions);
    said.title = said.textContent;
    const parts: HTMLElement[] = count ? [said] : [];
    if (stale) {
      parts.push(element('span', 'jp-fstools-ReviewBar-stale', trans._n('%1 out of date', '%1 out of date', stale)));
    }
    if (gone) {
      const text = trans._n('%1 change no longer in the document', '%1 changes no longer in the document', gone);
      parts.push(element('span', 'jp-fstools-ReviewBar-gone', text));
    }
    if (approvable) {
      parts.push(this._button('approve', trans.__('Approve all')));
    }
    if (unshown) {
      const compare = this._button('compare', trans.__('Compare'), trans.__('Show the whole change in the main area'));
      compare.dataset.change = unshown.id;
      parts.push(compare);
    }
    if (waiting.length) {
      parts.push(this._button('reject', trans.__('Reject all')));
    }
    if (made.length + gone) {
      parts.push(this._button('keep', trans.__('Keep all')));
    }
    if (made.length) {
      parts.push(this._button('undo', trans.__('Undo all')));
    }
    if (made.length + gone && elsewhere) {
      const where = trans._n('%1 more in another file', '%1 more in other files', elsewhere);
      parts.push(
        this._button('keep-session', trans.__('Keep session'), trans.__('Keep all of this session, %1', where)),
        this._button('undo-session', trans.__('Undo session'), trans.__('Undo all of this session, %1', where))
      );
    }
    if (count) {
      parts.push(this._button('previous', '↑', trans.__('Previous change')));
      parts.push(this._button('next', '↓', trans.__('Next change')));
    }
    if (problem) {
      const alert = element('span', 'jp-fstools-ReviewBar-problem', problem);
      alert.setAttribute('role', 'alert');
      parts.push(alert, this._button('dismiss', '✕', trans.__('Dismiss')));
    }
    return parts;
  }

  private _button(action: string, label: string, title = label): HTMLButtonElement {
    const made = actionButton(action, label);
    made.title = title;
    made.setAttribute('aria-label', title);
    return made;
  }

  private _onClick(event: MouseEvent): void {
    const { action, change } = (event.target as HTMLElement).closest<HTMLElement>('[data-action]')?.dataset ?? {};
    if (action === 'next' || action === 'previous') {
      this._actions.step(action === 'next' ? 1 : -1);
    } else if (action === 'compare') {
      this._actions.compare(change!);
    } else if (action === 'dismiss') {
      this._actions.dismiss();
    } else if (action) {
      this._actions.decideAll(action as BarDecision);
    }
  }

  private readonly _row = element('div', 'jp-fstools-ReviewBar-row');
}
