/** Limits the list: a part of a path, a kind or status, a session. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { ChangeEvent } from '../payloads';
import type { Entry, IActivityFilter } from '../feed/tokens';

import { isNarrow } from '../feed/entries';
import { element } from '../element';
import { reconcile } from './reconcile';

const TYPING = 300;
const KINDS: Record<string, Entry['kind']> = { changes: 'change', reads: 'read', refusals: 'refusal' };

/** Emits a filter whenever the person chooses another. */
export class FilterBar extends Widget {
  /**
   * @param kinds - the kinds that are listed unless the person chooses one.
   */
  constructor(
    filter: IActivityFilter,
    private _trans: TranslationBundle,
    private _kinds: () => readonly Entry['kind'][]
  ) {
    super({ node: element('div', 'jp-fstools-FilterBar') });
    const trans = _trans;
    this.node.setAttribute('role', 'search');
    this._filter = filter;
    this._path = element('input', 'jp-fstools-FilterBar-path jp-mod-styled');
    this._path.type = 'search';
    this._path.value = filter.match ?? filter.path ?? '';
    this._path.placeholder = trans.__('Filter by path');
    this._path.setAttribute('aria-label', trans.__('Only paths that contain this'));
    this._path.dataset.filter = 'path';
    const typed = new Debouncer(() => {
      this._choose({ path: undefined, match: this._path.value.trim() || undefined });
    }, TYPING);
    this._path.oninput = () => void typed.invoke();
    this.disposed.connect(() => typed.dispose());
    this._status = this._select('status', trans.__('Kind or status'), [
      ['', trans.__('Everything')],
      ['changes', trans.__('Changes')],
      ['proposed', trans.__('Waiting')],
      ['applied', trans.__('Applied')],
      ['rejected', trans.__('Rejected')],
      ['undone', trans.__('Undone')],
      ['reads', trans.__('Reads')],
      ['refusals', trans.__('Refusals')]
    ]);
    this._session = this._select('session', trans.__('Session'), []);
    this._clear = element('button', 'jp-fstools-Button jp-fstools-FilterBar-clear', '✕');
    this._clear.dataset.action = 'clear-filter';
    this._clear.title = trans.__('Clear the filter');
    this._clear.setAttribute('aria-label', this._clear.title);
    this._clear.onclick = () => {
      this._path.focus();
      this._choose({ kinds: this._kinds(), session: undefined, path: undefined, match: undefined, status: undefined });
    };
    this.node.append(this._path, this._status, this._session, this._clear);
    this.sessions = [];
    this.filter = filter;
  }

  readonly chosen = new Signal<this, IActivityFilter>(this);

  get filter(): IActivityFilter {
    return this._filter;
  }

  /** Show a filter that was chosen elsewhere. */
  set filter(filter: IActivityFilter) {
    // Keep a text that is being typed: it becomes the filter a moment later.
    if (filter.path !== this._filter.path || filter.match !== this._filter.match) {
      this._path.value = filter.match ?? filter.path ?? '';
    }
    this._filter = filter;
    this._status.value = filter.status ?? this._kind ?? '';
    this._clear.hidden = !isNarrow(filter) && this._status.value === '';
    this.sessions = [...this._session.options].map(option => option.value);
  }

  /** The sessions to choose from, in addition to the chosen one. */
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

  /** Name of the only kind that is listed; undefined if the usual kinds are listed. */
  private get _kind(): string | undefined {
    const { kinds } = this._filter;
    const isUsual = kinds.length === this._kinds().length;
    return isUsual ? undefined : Object.keys(KINDS).find(name => kinds.length === 1 && kinds[0] === KINDS[name]);
  }

  private _choose(part: Partial<IActivityFilter>): void {
    this.filter = { ...this._filter, ...part };
    this.chosen.emit(this._filter);
  }

  private _select(name: 'status' | 'session', label: string, options: [string, string][]): HTMLSelectElement {
    const select = element('select', `jp-fstools-FilterBar-${name} jp-mod-styled`);
    select.append(...options.map(([value, text]) => new Option(text, value)));
    select.setAttribute('aria-label', label);
    select.dataset.filter = name;
    select.onchange = () => {
      const value = select.value || undefined;
      if (name === 'session') {
        this._choose({ session: value });
      } else if (value !== undefined && value in KINDS) {
        this._choose({ status: undefined, kinds: [KINDS[value]] });
      } else {
        this._choose({ status: value as ChangeEvent['status'], kinds: this._kinds() });
      }
    };
    return select;
  }

  private _filter: IActivityFilter;
  private _status: HTMLSelectElement;
  private _session: HTMLSelectElement;
  private _path: HTMLInputElement;
  private _clear: HTMLButtonElement;
}
