/** What stands on a card above its diff: what was done, where it stands, what can be done about it. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Time } from '@jupyterlab/coreutils';
import { launchIcon } from '@jupyterlab/ui-components';

import type { ChangeEvent } from '../payloads';
import type { Entry } from '../feed/tokens';
import type { Words } from './words';

import { pathsOf } from '../feed/activityFeed';
import { spelledOut } from '../diff/styledText';
import { commandName, isCommand, plainLine, spokenCommand } from './commandText';
import { element } from '../element';
import { RequestError } from '../feed/requests';

/** What a card shows. */
export interface ICardState {
  entry: Entry;
  /** What a command says; null while it is not known, and of all else. */
  command: string | null;
  /** Why what the person asked for did not happen; null where it did. */
  problem: unknown;
  isUnfolded: boolean;
  /** Whether what the person asked for is being done. */
  isBusy: boolean;
  /** Whether other changes of the same session wait as well. */
  isOneOfSeveral: boolean;
  /** Whether all of the diff has to be shown before it can be approved. */
  mustBeSeen: boolean;
}

/** Draw it; a button's `data-action` tells what it is for. */
export function headOf(state: ICardState, words: Words, trans: TranslationBundle): HTMLElement[] {
  return [
    titleOf(state, words, trans),
    factsOf(state, words, trans),
    ...messagesOf(state, words),
    ...decisionsOf(state, trans)
  ];
}

function titleOf(state: ICardState, words: Words, trans: TranslationBundle): HTMLElement {
  const { entry, command, isUnfolded } = state;
  const title = element('div', 'jp-fstools-Card-title');
  if (entry.kind === 'change') {
    const fold = element('button', 'jp-fstools-Card-fold');
    fold.dataset.action = 'fold';
    fold.setAttribute('aria-expanded', String(isUnfolded));
    fold.setAttribute('aria-label', isUnfolded ? trans.__('Hide the diff') : trans.__('Show the diff'));
    title.append(fold);
  }
  const folder = plainLine('jp-fstools-Card-folder', words.folder(entry));
  title.title = spelledOut(command === null ? pathsOf(entry).join('\n') : spokenCommand(command));
  title.append(element('span', 'jp-fstools-Card-verb', words.verb(entry)), nameOf(state, words, trans), folder);
  if (entry.kind === 'change' && !isCommand(entry)) {
    title.append(countsOf(entry));
  }
  if (isOfFile(entry)) {
    title.append(openButton(state, trans));
  }
  return title;
}

function nameOf({ entry, command }: ICardState, words: Words, trans: TranslationBundle): HTMLElement {
  if (command !== null) {
    return plainLine('jp-fstools-Card-name jp-mod-command', commandName(command));
  }
  const file = words.several(pathsOf(entry), entry.path?.slice(entry.path.lastIndexOf('/') + 1) ?? words.noFile(entry));
  return plainLine('jp-fstools-Card-name', isCommand(entry) ? trans.__('a command') : file);
}

function countsOf({ added, removed }: ChangeEvent): HTMLElement {
  const counts = element('span', 'jp-fstools-Card-counts');
  counts.append(
    element('span', 'jp-fstools-Card-added', `+${added.toLocaleString()}`),
    element('span', 'jp-fstools-Card-removed', `−${removed.toLocaleString()}`)
  );
  return counts;
}

function factsOf({ entry }: ICardState, words: Words, trans: TranslationBundle): HTMLElement {
  const facts = element('div', 'jp-fstools-Card-facts');
  const status = words.status(entry);
  if (status) {
    const badge = element('span', 'jp-fstools-Card-status', status);
    if (entry.kind === 'change' && entry.stale) {
      badge.title = trans.__('The file changed since this was proposed');
    }
    facts.append(badge);
  }
  const when = new Date(entry.at * 1000);
  const time = element('time', 'jp-fstools-Card-time', Time.formatHuman(when));
  time.dateTime = when.toISOString();
  time.title = Time.format(when);
  facts.append(element('span', 'jp-fstools-Card-detail', words.detail(entry)), time);
  return facts;
}

function messagesOf({ entry, problem }: ICardState, words: Words): HTMLElement[] {
  const said: HTMLElement[] = [];
  if (entry.kind === 'refusal') {
    said.push(element('div', 'jp-fstools-Card-refusal', entry.message));
  }
  if (entry.kind === 'refusal' && entry.hint) {
    said.push(element('div', 'jp-fstools-Card-hint', entry.hint));
  }
  if (problem) {
    const alert = element('div', 'jp-fstools-Card-problem');
    alert.setAttribute('role', 'alert');
    alert.append(element('div', '', words.problem(problem)));
    const diff = problem instanceof RequestError ? problem.refusal.details.diff : undefined;
    if (diff) {
      alert.append(element('pre', 'jp-fstools-Card-changedSince', diff));
    }
    said.push(alert);
  }
  return said;
}

/** Whether there is a file to open, as far as the entry tells. */
function isOfFile(entry: Entry): boolean {
  if (entry.path === null || isCommand(entry)) {
    return false;
  }
  if (entry.kind !== 'change') {
    return entry.kind === 'read' || entry.code !== 'not_found';
  }
  const isApplied = entry.status === 'applied';
  return entry.op === 'create' ? isApplied : entry.op !== 'delete' || !isApplied;
}

function openButton(state: ICardState, trans: TranslationBundle): HTMLElement {
  const open = button('open', trans.__('Open file'), state);
  open.className = 'jp-fstools-Card-open';
  open.title = trans.__('Open file');
  open.replaceChildren(launchIcon.element({ tag: 'span' }));
  return open;
}

function decisionsOf(state: ICardState, trans: TranslationBundle): HTMLElement[] {
  const { entry, isOneOfSeveral } = state;
  const row = element('div', 'jp-fstools-Card-buttons');
  if (entry.kind === 'change' && entry.status === 'proposed') {
    if (!entry.stale) {
      const approve = button('approve', trans.__('Approve'), state);
      if (state.mustBeSeen) {
        approve.disabled = true;
        approve.title = trans.__('Show all of the diff first');
      }
      row.append(approve);
    }
    row.append(button('reject', trans.__('Reject'), state));
    if (isOneOfSeveral) {
      row.append(button('approve-session', trans.__('Approve all of this session'), state));
    }
  } else if (entry.kind === 'change' && entry.status === 'applied' && entry.undoable) {
    row.append(button('undo', entry.undoes === null ? trans.__('Undo') : trans.__('Redo'), state));
  }
  return row.hasChildNodes() ? [row] : [];
}

function button(action: string, label: string, { entry, command, isBusy }: ICardState): HTMLButtonElement {
  const made = element('button', 'jp-fstools-Button', label);
  made.dataset.action = action;
  made.setAttribute('aria-label', `${label}: ${command === null ? (entry.path ?? '') : commandName(command)}`);
  made.disabled = isBusy;
  return made;
}
