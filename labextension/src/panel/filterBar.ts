/** What the list is limited to: kinds, a status, a session, a file or folder. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { ChangeEvent } from '../payloads';
import type { Entry, IActivityFilter } from '../feed/tokens';

import { element } from '../element';
import { reconcile } from './reconcile';

const KINDS: readonly Entry['kind'][] = ['change', 'read', 'refusal'];
const TYPING = 300;

/** Emits a filter whenever the person chooses another. */
export class FilterBar extends Widget {
  constructor(filter: IActivityFilter, trans: TranslationBundle) {
    super({ node: element('div', 'jp-fstools-FilterBar') });
    this.node.setAttribute('role', 'search');
    this._trans = trans;
    this._filter = filter;
    this._status = this._select('status', trans.__('Status'), [
      ['', trans.__('Any status')],
      ['proposed', trans.__('Waiting')],
      ['applied', trans.__('Applied')],
      ['rejected', trans.__('Rejected')],
      ['undone', trans.__('Undone')]
    ]);
    this._session = this._select('session', trans.__('Session'), []);
    this._path = element('input', 'jp-fstools-FilterBar-path jp-mod-styled');
    this._path.type = 'search';
    this._path.value = filter.path ?? '';
    this._path.placeholder = trans.__('File or folder');
    this._path.setAttribute('aria-label', trans.__('Only this file or folder'));
    this._path.dataset.filter = 'path';
    const typed = new Debouncer(() => this._choose({ path: this._path.value.trim() || undefined }), TYPING);
    this._path.oninput = () => void typed.invoke();
    this.disposed.connect(() => typed.dispose());
    this._buttons = KINDS.map(kind => this._toggle(kind));
    const kinds = element('div', 'jp-fstools-FilterBar-kinds');
    kinds.setAttribute('role', 'group');
    kinds.setAttribute('aria-label', trans.__('What is listed'));
    kinds.append(...this._buttons);
    this.node.append(kinds, this._status, this._session, this._path);
    this.sessions = [];
    this.filter = filter;
  }

  readonly chosen = new Signal<this, IActivityFilter>(this);

  get filter(): IActivityFilter {
    return this._filter;
  }

  /** Show a filter that was chosen elsewhere. */
  set filter(filter: IActivityFilter) {
    // What is being typed is chosen a moment later.
    if (filter.path !== this._filter.path) {
      this._path.value = filter.path ?? '';
    }
    this._filter = filter;
    this._status.value = filter.status ?? '';
    this.sessions = [...this._session.options].map(option => option.value);
    for (const button of this._buttons) {
      const kind = button.dataset.kind as Entry['kind'];
      const isOn = filter.status === undefined ? filter.kinds.includes(kind) : kind === 'change';
      button.setAttribute('aria-pressed', String(isOn));
      button.disabled = filter.status !== undefined;
    }
  }

  /** The sessions to choose from, beside the one that is chosen. */
  set sessions(sessions: readonly string[]) {
    const chosen = this._filter.session ?? '';
    const names = [...new Set([...sessions, chosen].filter(name => name !== ''))].sort();
    const options = [['', this._trans.__('Any session')], ...names.map(name => [name, name])];
    reconcile(
      this._session,
      options.map(([value, text]) => new Option(text, value))
    );
    this._session.value = chosen;
  }

  private _choose(part: Partial<IActivityFilter>): void {
    this._filter = { ...this._filter, ...part };
    this.filter = this._filter;
    this.chosen.emit(this._filter);
  }

  private _select(name: 'status' | 'session', label: string, options: [string, string][]): HTMLSelectElement {
    const select = element('select', `jp-fstools-FilterBar-${name} jp-mod-styled`);
    select.append(...options.map(([value, text]) => new Option(text, value)));
    select.setAttribute('aria-label', label);
    select.dataset.filter = name;
    select.onchange = () => {
      const value = select.value || undefined;
      this._choose(name === 'status' ? { status: value as ChangeEvent['status'] } : { session: value });
    };
    return select;
  }

  private _toggle(kind: Entry['kind']): HTMLButtonElement {
    const { _trans: trans } = this;
    const labels = { change: trans.__('Changes'), read: trans.__('Reads'), refusal: trans.__('Refusals') };
    const button = element('button', 'jp-fstools-Toggle', labels[kind]);
    button.dataset.kind = kind;
    button.onclick = () => {
      const chosen = KINDS.filter(one => this._filter.kinds.includes(one) !== (one === kind));
      // Nothing at all is never what somebody wants to see.
      this._choose({ kinds: chosen.length ? chosen : [kind] });
    };
    return button;
  }

  private _trans: TranslationBundle;
  private _filter: IActivityFilter;
  private _status: HTMLSelectElement;
  private _session: HTMLSelectElement;
  private _path: HTMLInputElement;
  private _buttons: HTMLButtonElement[];
}
