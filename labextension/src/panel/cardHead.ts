/** Draws a card's head: what was done, its status, its buttons. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Time } from '@jupyterlab/coreutils';
import { type LabIcon, launchIcon, redoIcon, undoIcon } from '@jupyterlab/ui-components';

import type { Row } from './turns';
import type { Words } from './words';

import { pathsOf } from '../feed/entries';
import { spelledOut } from '../diff/styledText';
import { commandName, isCommand, isStepBack, plainLine, spokenCommand } from './commandText';
import { actionButton, element } from '../element';

/** A row of the list below a turn. */
export type CardEntry = Exclude<Row, { kind: 'turn' }>;

/** State that a card shows. */
export interface ICardState {
  entry: CardEntry;
  /** The text of a command; null while unknown, and for all other entries. */
  command: string | null;
  /** Why the person's last action failed; null if it did not. */
  problem: unknown;
  isUnfolded: boolean;
  /** Whether the person's action is under way. */
  isBusy: boolean;
  /** Whether all of the diff has to be shown before it can be approved. */
  mustBeSeen: boolean;
}

/** Characters at the end of a long name that stay visible. */
const END_OF_NAME = 10;
const LONG_NAME = 20;
const MINUTE = 60_000;

/** Draw the head of a card; a button's `data-action` names its action. */
export function headOf(state: ICardState, words: Words, trans: TranslationBundle): HTMLElement[] {
  return [
    titleOf(state, words, trans),
    ...factsOf(state, words),
    ...messagesOf(state, words),
    ...decisionsOf(state, words, trans)
  ];
}

/** The numbers of added and of removed lines. */
export function countsOfLines(added: number, removed: number): HTMLElement {
  const counts = element('span', 'jp-fstools-Card-counts');
  counts.append(
    element('span', 'jp-fstools-Card-added', `+${added.toLocaleString()}`),
    element('span', 'jp-fstools-Card-removed', `−${removed.toLocaleString()}`)
  );
  return counts;
}

/** How long ago something was; `at` in seconds since 1970. */
export function timeOf(at: number): HTMLElement {
  const when = new Date(at * 1000);
  const time = element('time', 'jp-fstools-Card-time', agoOf(when));
  time.dateTime = when.toISOString();
  time.title = Time.format(when);
  return time;
}

/** Say all times below an element as of now: what is drawn later would tell another one. */
export function tellTimes(node: HTMLElement): void {
  node.querySelectorAll<HTMLTimeElement>('time.jp-fstools-Card-time').forEach(time => {
    time.textContent = agoOf(new Date(time.dateTime));
  });
}

/** By the minute: nobody draws a time anew every second. */
function agoOf(when: Date): string {
  const now = new Date();
  return Time.formatHuman(now.getTime() - when.getTime() < MINUTE ? now : when);
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
  const folder = element('span', 'jp-fstools-Card-folder');
  folder.append(plainLine('jp-fstools-Card-folderPath', words.folder(entry)));
  title.title = spelledOut(command === null ? pathsOf(entry).join('\n') : spokenCommand(command));
  // The numbers of lines already tell that a file was edited.
  if (entry.kind !== 'change' || entry.op !== 'edit' || isStepBack(entry)) {
    title.append(element('span', 'jp-fstools-Card-verb', words.verb(entry)));
  }
  title.append(nameOf(state, words, trans), folder);
  if (entry.kind === 'change' && !isCommand(entry)) {
    title.append(countsOfLines(entry.added, entry.removed));
  }
  if (isOfFile(entry)) {
    title.append(iconButton('open', trans.__('Open file'), launchIcon, state));
  }
  if (entry.kind === 'change' && entry.status === 'applied' && entry.undoable) {
    const [label, icon] = isStepBack(entry) ? [trans.__('Redo'), redoIcon] : [trans.__('Undo'), undoIcon];
    title.append(iconButton('undo', label, icon, state));
  }
  return title;
}

function nameOf({ entry, command }: ICardState, words: Words, trans: TranslationBundle): HTMLElement {
  if (command !== null) {
    return plainLine('jp-fstools-Card-name jp-mod-command', commandName(command));
  }
  if (isCommand(entry)) {
    return plainLine('jp-fstools-Card-name', trans.__('a command'));
  }
  const file = entry.path?.slice(entry.path.lastIndexOf('/') + 1) ?? words.noFile(entry);
  return cutInTheMiddle(words.several(pathsOf(entry), file));
}

/** A name that keeps its end where it is too long: the end distinguishes similar names, and shows the type. */
function cutInTheMiddle(text: string): HTMLElement {
  const signs = Array.from(text);
  if (signs.length <= LONG_NAME) {
    return plainLine('jp-fstools-Card-name', text);
  }
  const name = element('span', 'jp-fstools-Card-name jp-mod-cut');
  name.append(
    plainLine('jp-fstools-Card-nameStart', signs.slice(0, -END_OF_NAME).join('')),
    plainLine('jp-fstools-Card-nameEnd', signs.slice(-END_OF_NAME).join(''))
  );
  return name;
}

/** Empty where the title says enough: for a change that is applied on disk, or waits and so has its buttons. */
function factsOf({ entry, isUnfolded }: ICardState, words: Words): HTMLElement[] {
  const facts = element('div', 'jp-fstools-Card-facts');
  const hasRun = isCommand(entry) && entry.status === 'applied';
  const isOver = entry.kind === 'change' && (hasRun || !['applied', 'proposed'].includes(entry.status));
  if (isOver || entry.kind === 'refusal') {
    facts.append(element('span', 'jp-fstools-Card-status', words.status(entry)));
  }
  if (isOver || isUnfolded || entry.kind !== 'change' || entry.place !== 'disk') {
    facts.append(element('span', 'jp-fstools-Card-detail', words.detail(entry)), timeOf(entry.at));
  }
  return facts.hasChildNodes() ? [facts] : [];
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
    said.push(alert);
  }
  return said;
}

/** Whether there is a file to open, as far as the entry tells. */
function isOfFile(entry: CardEntry): boolean {
  if (entry.path === null || isCommand(entry)) {
    return false;
  }
  if (entry.kind !== 'change') {
    return entry.kind === 'read' || entry.code !== 'not_found';
  }
  const isApplied = entry.status === 'applied';
  return entry.op === 'create' ? isApplied : entry.op !== 'delete' || !isApplied;
}

function iconButton(action: string, label: string, icon: LabIcon, state: ICardState): HTMLElement {
  const made = button(action, label, state);
  made.className = 'jp-fstools-Card-icon';
  made.title = label;
  made.replaceChildren(icon.element({ tag: 'span' }));
  return made;
}

function decisionsOf(state: ICardState, words: Words, trans: TranslationBundle): HTMLElement[] {
  const { entry } = state;
  const row = element('div', 'jp-fstools-Card-buttons');
  const compared = entry.kind === 'change' && state.isUnfolded && !isCommand(entry);
  const compare = compared ? [button('compare', trans.__('Compare'), state)] : [];
  if (entry.kind !== 'change' || entry.status !== 'proposed') {
    row.append(...compare);
    return row.hasChildNodes() ? [row] : [];
  }
  if (entry.stale) {
    const badge = element('span', 'jp-fstools-Card-status', words.status(entry));
    badge.title = trans.__('The file was modified after this was proposed');
    row.append(badge);
  } else {
    const approve = button('approve', trans.__('Approve'), state);
    if (state.mustBeSeen) {
      approve.disabled = true;
      approve.title = trans.__('Show all of the diff first');
    }
    row.append(approve);
  }
  row.append(button('reject', trans.__('Reject'), state), ...compare);
  return [row];
}

function button(action: string, label: string, { entry, command, isBusy }: ICardState): HTMLButtonElement {
  const made = actionButton(action, label);
  made.setAttribute('aria-label', `${label}: ${command === null ? (entry.path ?? '') : commandName(command)}`);
  made.disabled = isBusy;
  return made;
}
