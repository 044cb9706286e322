/** Lists what a person is about to decide. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChangeEvent } from '../payloads';
import type { ToolsServer } from '../feed/requests';
import type { Words } from './words';

import { pathsOf } from '../feed/entries';
import { commandBlock, isCommand, plainLine } from './commandText';
import { element } from '../element';

const FILES_LISTED = 10;

/** What it takes to name changes. */
export interface INamingParts {
  server: ToolsServer;
  words: Words;
  trans: TranslationBundle;
}

/**
 * List every command, whole, and the first of the other changes: what a command says is fetched.
 *
 * @throws RequestError - what a command says cannot be told.
 */
export async function decisionList(changes: readonly ChangeEvent[], parts: INamingParts): Promise<HTMLElement> {
  const { trans } = parts;
  const commands = changes.filter(isCommand);
  const others = changes.filter(change => !isCommand(change));
  const listed = [...commands, ...others.slice(0, FILES_LISTED)];
  const list = element('ul', 'jp-fstools-Decisions');
  // It scrolls: with the keyboard too, which needs a place to go and a name for it.
  list.tabIndex = 0;
  list.setAttribute('aria-label', trans.__('What you decide about'));
  list.append(...(await Promise.all(listed.map(change => itemOf(change, parts)))));
  const rest = changes.length - listed.length;
  if (rest) {
    list.append(element('li', '', trans._n('and %1 more change', 'and %1 more changes', rest)));
  }
  return list;
}

async function itemOf(entry: ChangeEvent, { server, words, trans }: INamingParts): Promise<HTMLElement> {
  const item = element('li', '');
  item.append(element('span', 'jp-fstools-Card-verb', words.verb(entry)), ' ');
  if (isCommand(entry)) {
    item.append(words.folder(entry), commandBlock(await server.change(entry.id), trans));
  } else {
    item.append(plainLine('', pathsOf(entry).join(', ')));
  }
  return item;
}
