/** What a person is about to decide, named before they do. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Change } from './payloads';
import type { ToolsServer } from './requests';
import type { Words } from './words';

import { entryOf } from './activityFeed';
import { commandOf, isCommand, plainLine } from './commandText';
import { element } from './element';

const LISTED = 10;
const LINES_OF_A_COMMAND = 20;

/** What it takes to name changes. */
export interface INamingParts {
  server: ToolsServer;
  words: Words;
  trans: TranslationBundle;
}

/**
 * List the first of the changes, commands above all: what they say is fetched.
 *
 * @throws RequestError - what a command says cannot be told.
 */
export async function decisionList(changes: readonly Change[], parts: INamingParts): Promise<HTMLElement> {
  const commands = changes.filter(change => isCommand(entryOf(change)));
  const others = changes.filter(change => !commands.includes(change));
  const listed = [...commands, ...others].slice(0, LISTED);
  const list = element('ul', 'jp-fstools-Decisions');
  list.append(...(await Promise.all(listed.map(change => itemOf(change, parts)))));
  const rest = changes.length - listed.length;
  if (rest) {
    list.append(element('li', '', parts.trans._n('and %1 more', 'and %1 more', rest)));
  }
  return list;
}

async function itemOf(change: Change, { server, words, trans }: INamingParts): Promise<HTMLElement> {
  const entry = entryOf(change);
  const item = element('li', '');
  item.append(element('span', 'jp-fstools-Card-verb', words.verb(entry)), ' ');
  if (isCommand(entry)) {
    item.append(words.folder(entry), commandBlock(commandOf(await server.change(change.id)), trans));
  } else {
    item.append(plainLine('', change.path));
  }
  return item;
}

function commandBlock(command: string, trans: TranslationBundle): HTMLElement {
  const block = element('code', 'jp-fstools-Decisions-command');
  const lines = command.split('\n');
  block.append(...lines.slice(0, LINES_OF_A_COMMAND).map(line => plainLine('jp-fstools-Decisions-line', line)));
  const rest = lines.length - LINES_OF_A_COMMAND;
  if (rest > 0) {
    block.append(element('em', '', trans._n('… %1 more line', '… %1 more lines', rest)));
  }
  return block;
}
