/** Connects an assistant: makes its token, shows its configuration, and waits for its first call. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Clipboard, Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { IConnection, INewConnection } from '../feed/requests';
import type { IConnectChoices } from './connectForm';
import type { IServerParts } from './words';

import { ConnectForm } from './connectForm';
import { element } from '../element';
import { RequestError } from '../feed/requests';

/** Ask until the server has made a token; then show how to connect, until the person closes the dialog. */
export async function connectAssistant(parts: IServerParts): Promise<void> {
  const { server, words, trans } = parts;
  let choices: IConnectChoices;
  try {
    const [clients, { tools }] = await Promise.all([server.clients(), server.status()]);
    choices = { clients, tools };
  } catch (error) {
    await showErrorMessage(trans.__('No assistant can be connected now'), words.problem(error));
    return;
  }
  let asked: INewConnection | null = null;
  let problem = '';
  for (;;) {
    asked = await askedFor(new ConnectForm(choices, asked, problem, trans), trans);
    if (asked === null) {
      return;
    }
    const made = await server.connect(asked).catch((error: unknown) => {
      problem = words.problem(error);
    });
    if (made) {
      return showConnection(made, asked.stdio, parts);
    }
  }
}

async function askedFor(body: ConnectForm, trans: TranslationBundle): Promise<INewConnection | null> {
  const answer = await showDialog({
    title: trans.__('Connect an assistant'),
    body,
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: trans.__('Make its token') })],
    focusNodeSelector: 'select'
  });
  return answer.button.accept ? answer.value : null;
}

async function showConnection(made: IConnection, stdio: boolean, parts: IServerParts): Promise<void> {
  const { trans } = parts;
  const body = new ConnectionView(made, stdio, parts);
  void body.follow();
  await showDialog({
    title: trans.__('Connect %1', made.client.title),
    body,
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}

class ConnectionView extends Widget {
  constructor(
    private _made: IConnection,
    stdio: boolean,
    private _parts: IServerParts
  ) {
    super({ node: element('div', 'jp-fstools-Connect') });
    const { trans } = _parts;
    const { client, configuration } = _made;
    const where = client.file
      ? trans.__('Add this to %1 of %2:', client.file, client.title)
      : trans.__('Add this to the configuration of your program:');
    const text = element('pre', 'jp-fstools-Connect-configuration', configuration);
    text.tabIndex = 0;
    text.setAttribute('role', 'group');
    text.setAttribute('aria-label', trans.__('Configuration'));
    const actions = element('div', 'jp-fstools-Connect-actions');
    actions.append(this._copyButton(), this._page());
    const notes = [
      trans.__('The token in it is shown only here. "Tokens of Assistants" lists and revokes it.'),
      ...(stdio ? [trans.__('The command runs on the machine of this server.')] : [])
    ];
    this._state.setAttribute('role', 'status');
    this._state.textContent = trans.__('Waiting for the first call of %1…', client.title);
    this.node.append(element('p', '', where), text, actions, element('p', '', notes.join(' ')), this._state);
  }

  /** Wait for the first call with the token, and tell that it came, or why that cannot be known. */
  async follow(): Promise<void> {
    const { server, trans } = this._parts;
    const { id, client } = this._made;
    try {
      while (!(await server.isUsed(id, this._closed.signal))) {
        // Each request waits on the server for the call.
      }
      this._state.textContent = trans.__('%1 has called: it works.', client.title);
      this._state.dataset.works = 'true';
    } catch (error) {
      this._state.textContent = this._closed.signal.aborted ? '' : this._problem(error);
    }
  }

  override dispose(): void {
    this._closed.abort();
    super.dispose();
  }

  private _problem(error: unknown): string {
    const { words, trans } = this._parts;
    const isRevoked = error instanceof RequestError && error.refusal.code === 'not_found';
    return isRevoked ? trans.__('Its token was revoked before the first call.') : words.problem(error);
  }

  private _copyButton(): HTMLElement {
    const { trans } = this._parts;
    const button = element('button', 'jp-mod-styled jp-mod-reject', trans.__('Copy'));
    button.dataset.action = 'copy';
    button.onclick = () => {
      Clipboard.copyToSystem(this._made.configuration);
      button.textContent = trans.__('Copied');
    };
    return button;
  }

  private _page(): HTMLElement {
    const { title, page } = this._made.client;
    const link = element('a', '', this._parts.trans.__('How %1 documents it', title));
    link.href = page;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
    return link;
  }

  private _state = element('p', 'jp-fstools-Connect-state');
  private _closed = new AbortController();
}
