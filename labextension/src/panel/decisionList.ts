/** Lists what a person is about to decide. */

import type { ChangeEvent } from '../payloads';
import type { IServerParts } from './words';

import { pathsOf } from '../feed/entries';
import { commandBlock, isCommand, plainLine } from './commandText';
import { element } from '../element';

const FILES_LISTED = 10;

/**
 * List every command in full, loading its text, and the first of the other changes.
 *
 * @throws RequestError - the text of a command cannot be loaded.
 */
export async function decisionList(changes: readonly ChangeEvent[], parts: IServerParts): Promise<HTMLElement> {
  const { trans } = parts;
  const commands = changes.filter(isCommand);
  const others = changes.filter(change => !isCommand(change));
  const listed = [...commands, ...others.slice(0, FILES_LISTED)];
  const list = element('ul', 'jp-fstools-Decisions');
  // To scroll it by keyboard, the list must take the focus and have a name.
  list.tabIndex = 0;
  list.setAttribute('aria-label', trans.__('What you decide about'));
  list.append(...(await Promise.all(listed.map(change => itemOf(change, parts)))));
  const rest = changes.length - listed.length;
  if (rest) {
    list.append(element('li', '', trans._n('and %1 more change', 'and %1 more changes', rest)));
  }
  return list;
}

async function itemOf(entry: ChangeEvent, { server, words, trans }: IServerParts): Promise<HTMLElement> {
  const item = element('li', '');
  item.append(element('span', 'jp-fstools-Card-verb', words.verb(entry)), ' ');
  if (isCommand(entry)) {
    item.append(words.folder(entry), commandBlock(await server.change(entry.id), trans));
  } else {
    item.append(plainLine('', pathsOf(entry).join(', ')));
  }
  return item;
}
