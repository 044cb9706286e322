/** Lists the tokens of assistants in a dialog, each with a button that revokes it. */

import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Time } from '@jupyterlab/coreutils';
import { Widget } from '@lumino/widgets';

import type { IAssistantToken } from '../feed/requests';
import type { IServerParts } from './words';

import { element } from '../element';
import { plainLine } from './commandText';

/** Show the tokens until the person closes the dialog. */
export async function showTokens(parts: IServerParts): Promise<void> {
  const { trans } = parts;
  const list = new TokenList(parts);
  const closed = showDialog({
    title: trans.__('Tokens of assistants'),
    body: list,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
  await list.load();
  await closed;
}

class TokenList extends Widget {
  constructor(private _parts: IServerParts) {
    super();
    this.addClass('jp-fstools-Tokens');
    this.node.textContent = _parts.trans.__('Loading…');
  }

  /** Ask the server for the tokens and list them; tell why if that fails. */
  async load(): Promise<void> {
    const { server, words, trans } = this._parts;
    try {
      const tokens = await server.tokens();
      const list = element('ul', 'jp-fstools-Tokens-list');
      list.append(...tokens.map(token => this._item(token)));
      const none = element('p', '', trans.__('There are none.'));
      this.node.replaceChildren(tokens.length ? list : none);
    } catch (error) {
      this._say(words.problem(error));
    }
  }

  private _item(token: IAssistantToken): HTMLElement {
    const { trans } = this._parts;
    const item = element('li', '');
    const revoke = element('button', 'jp-fstools-Button', trans.__('Revoke'));
    revoke.setAttribute('aria-label', trans.__('Revoke %1', token.name));
    revoke.onclick = () => void this._revoke(token, revoke);
    const facts = [this._session(token), this._tools(token), this._paths(token), this._end(token), this._use(token)];
    item.append(plainLine('jp-fstools-Tokens-name', token.name), revoke, element('div', '', facts.join(' · ')));
    return item;
  }

  private _session({ session }: IAssistantToken): string {
    return this._parts.trans.__('session %1', session);
  }

  private _tools({ tools }: IAssistantToken): string {
    const { trans } = this._parts;
    switch (tools) {
      case 'read':
        return trans.__('reads');
      case 'write':
        return trans.__('reads and writes');
      default:
        return tools.join(', ');
    }
  }

  private _paths({ paths }: IAssistantToken): string {
    return paths.length ? paths.join(', ') : this._parts.trans.__('all paths');
  }

  private _end({ expires_at: end }: IAssistantToken): string {
    const { trans } = this._parts;
    if (end === null) {
      return trans.__('never expires');
    }
    const when = new Date(end * 1000);
    return when < new Date() ? trans.__('expired') : trans.__('expires on %1', when.toLocaleDateString());
  }

  private _use({ last_used_at: last }: IAssistantToken): string {
    const { trans } = this._parts;
    return last === null ? trans.__('not used yet') : trans.__('used %1', Time.formatHuman(new Date(last * 1000)));
  }

  private async _revoke({ id }: IAssistantToken, button: HTMLButtonElement): Promise<void> {
    const { server, words } = this._parts;
    button.disabled = true;
    try {
      await server.revokeToken(id);
      await this.load();
      // The pressed button is gone, so another one of the dialog takes the focus.
      this.node.closest('.jp-Dialog')?.querySelector<HTMLElement>('button')?.focus();
    } catch (error) {
      button.disabled = false;
      this._say(words.problem(error));
    }
  }

  private _say(problem: string): void {
    const alert = element('p', 'jp-fstools-Card-problem', problem);
    alert.setAttribute('role', 'alert');
    this.node.prepend(alert);
  }
}
