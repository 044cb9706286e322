/** Shows a bar below a document's toolbar: its changes, and decisions about all of them. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Widget } from '@lumino/widgets';

import type { Change } from '../payloads';

import { element } from '../element';
import { reconcile } from '../panel/reconcile';

/** What the bar's buttons do. */
export interface IBarActions {
  decideAll(decision: 'approve' | 'reject' | 'keep' | 'undo'): void;
  step(by: 1 | -1): void;
}

/** Shows how many changes there are, by whom; hidden where there are none. */
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
    this.hide();
  }

  /** Show these; `stale` of them no longer fit the document. */
  tell(waiting: readonly Change[], made: readonly Change[], stale: number, problem: string): void {
    const { _trans: trans } = this;
    const sessions = [...new Set([...waiting, ...made].map(change => change.session))].join(', ');
    const count = waiting.length + made.length;
    const said = element('span', 'jp-fstools-ReviewBar-said');
    said.textContent = trans._n('%1 change by %2', '%1 changes by %2', count, sessions);
    said.title = said.textContent;
    const parts: HTMLElement[] = [said];
    if (stale) {
      parts.push(element('span', 'jp-fstools-ReviewBar-stale', trans._n('%1 is stale', '%1 are stale', stale)));
    }
    if (waiting.length) {
      parts.push(this._button('approve', trans.__('Approve all')), this._button('reject', trans.__('Reject all')));
    }
    if (made.length) {
      parts.push(this._button('keep', trans.__('Keep all')), this._button('undo', trans.__('Undo all')));
    }
    parts.push(this._button('previous', '↑', trans.__('Previous change')));
    parts.push(this._button('next', '↓', trans.__('Next change')));
    if (problem) {
      const alert = element('span', 'jp-fstools-ReviewBar-problem', problem);
      alert.setAttribute('role', 'alert');
      parts.push(alert);
    }
    reconcile(this.node, count || problem ? parts : []);
    this.setHidden(!count && !problem);
  }

  private _button(action: string, label: string, title = label): HTMLButtonElement {
    const made = element('button', 'jp-fstools-Button', label);
    made.dataset.action = action;
    made.title = title;
    made.setAttribute('aria-label', title);
    return made;
  }

  private _onClick(event: MouseEvent): void {
    const action = (event.target as HTMLElement).closest<HTMLElement>('[data-action]')?.dataset.action;
    if (action === 'next' || action === 'previous') {
      this._actions.step(action === 'next' ? 1 : -1);
    } else if (action) {
      this._actions.decideAll(action as 'approve' | 'reject' | 'keep' | 'undo');
    }
  }
}
