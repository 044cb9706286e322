/** Asks which program to connect, how it reaches the server, and what its token opens. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Dialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { IClient, INewConnection } from '../feed/requests';

import { element } from '../element';

const DAY = 86400;
const DAYS = [1, 7, 30, 365];
const NEVER = '';

/** Choices that the form offers. */
export interface IConnectChoices {
  clients: readonly IClient[];
  /** The tools that the server offers. */
  tools: readonly string[];
}

/** A form; `getValue` returns the person's input. */
export class ConnectForm extends Widget implements Dialog.IBodyWidget<INewConnection> {
  /**
   * @param asked - the input that is filled in at first; null for none.
   * @param problem - why the server refused that input; empty if it did not.
   */
  constructor(
    { clients, tools }: IConnectChoices,
    asked: INewConnection | null,
    problem: string,
    trans: TranslationBundle
  ) {
    super({ node: element('div', 'jp-fstools-Connect') });
    this._tools = tools;
    this._client = this._select(
      'client',
      trans.__('Program'),
      clients.map(({ name, title }) => [name, title])
    );
    this._way = this._select('way', trans.__('Reaches the server by'), [
      ['http', trans.__('an address (HTTP)')],
      ['stdio', trans.__('a command on the machine of this server (stdio)')]
    ]);
    this._name = this._add('name', trans.__('Name of its token and session'), element('input', 'jp-mod-styled'));
    this._may = this._select('may', trans.__('It may'), [
      ['write', trans.__('read and change files')],
      ['read', trans.__('only read files')],
      ...(this._runs ? [['execute', trans.__('read and change files, and run commands')] as [string, string]] : [])
    ]);
    this._paths = this._add('paths', trans.__('Only these paths'), element('textarea', 'jp-mod-styled'));
    this._paths.placeholder = trans.__('all; or rules as in .gitignore, one a line');
    this._paths.rows = 2;
    this._end = this._select('end', trans.__('The token ends'), [
      ...DAYS.map(days => [String(days * DAY), trans._n('after %1 day', 'after %1 days', days)] as [string, string]),
      [NEVER, trans.__('never')]
    ]);
    this._client.onchange = () => {
      // The name follows the program until the person has chosen another.
      if (clients.some(({ name }) => name === this._name.value)) {
        this._name.value = this._client.value;
      }
    };
    this._name.value = this._client.value;
    this._end.value = String(30 * DAY);
    if (asked) {
      this._fill(asked);
    }
    const alert = element('p', 'jp-fstools-Card-problem', problem);
    alert.setAttribute('role', 'alert');
    alert.hidden = !problem;
    this.node.append(alert);
  }

  getValue(): INewConnection {
    return {
      client: this._client.value,
      stdio: this._way.value === 'stdio',
      name: this._name.value.trim(),
      tools: this._may.value === 'execute' ? [...this._tools] : (this._may.value as 'read' | 'write'),
      paths: this._paths.value.split('\n').filter(rule => rule.trim()),
      expires_in: this._end.value === NEVER ? null : Number(this._end.value)
    };
  }

  private get _runs(): boolean {
    return this._tools.some(name => name.endsWith('execute'));
  }

  private _fill({ client, stdio, name, tools, paths, expires_in: end }: INewConnection): void {
    this._client.value = client;
    this._way.value = stdio ? 'stdio' : 'http';
    this._name.value = name;
    this._may.value = typeof tools === 'string' ? tools : 'execute';
    this._paths.value = paths.join('\n');
    this._end.value = end === null ? NEVER : String(end);
  }

  private _select(name: string, label: string, options: [string, string][]): HTMLSelectElement {
    const select = element('select', 'jp-mod-styled');
    select.append(...options.map(([value, text]) => new Option(text, value)));
    return this._add(name, label, select);
  }

  private _add<T extends HTMLElement>(name: string, label: string, field: T): T {
    const labelled = element('label', 'jp-fstools-Connect-field');
    field.dataset.field = name;
    labelled.append(element('span', '', label), field);
    this.node.append(labelled);
    return field;
  }

  private _tools: readonly string[];
  private _client: HTMLSelectElement;
  private _way: HTMLSelectElement;
  private _name: HTMLInputElement;
  private _may: HTMLSelectElement;
  private _paths: HTMLTextAreaElement;
  private _end: HTMLSelectElement;
}
