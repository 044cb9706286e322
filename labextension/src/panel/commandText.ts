/** Names a command and draws its text. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Change, ChangeEvent } from '../payloads';
import type { Entry } from '../feed/tokens';

import { element } from '../element';
import { drawLines, drawText } from '../diff/styledText';

const LONGEST_NAME = 120;
const LONGEST_TITLE = 2000;
const LONGEST_FLAT = 1000;

/** Whether an entry is about a command, not about a file. */
export function isCommand(entry: Entry): entry is ChangeEvent & { op: 'execute' } {
  return entry.kind === 'change' && entry.op === 'execute';
}

/** Whether a change undoes another one, or hunks of it. */
export function isStepBack({ undoes, tool }: Pick<Change, 'undoes' | 'tool'>): boolean {
  return undoes !== null || tool === 'undo';
}

/** The text of a command. */
export function commandOf({ diff }: Change): string {
  const rows = diff.hunks.flatMap(hunk => hunk.rows).filter(row => row.kind === 'add');
  return rows.map(row => row.text).join('\n');
}

/** A command's first line that is not blank, shortened; an ellipsis tells that there is more. */
export function commandName(command: string): string {
  const text = command.trim();
  const name = text.split('\n', 1)[0].slice(0, LONGEST_NAME);
  return name === text ? name : `${name} …`;
}

/** A command's text, cut to a length that can be read aloud at once. */
export function spokenCommand(command: string): string {
  return command.length > LONGEST_TITLE ? `${command.slice(0, LONGEST_TITLE)} …` : command;
}

/** Draw a line as text, its invisible characters too. */
export function plainLine(className: string, text: string): HTMLElement {
  const line = element('span', className);
  drawText(line, text);
  return line;
}

/** Draw all that a person must see of a command: the environment variables that it adds, then its lines. */
export function commandBlock({ diff }: Change, trans: TranslationBundle): HTMLElement {
  const text = diff.hunks.flatMap(hunk => hunk.rows.map(row => row.text)).join('\n');
  const block = element('code', 'jp-fstools-Decisions-command');
  // One element for all lines: a command may have a hundred thousand.
  drawLines(block, text);
  if (text.length > LONGEST_FLAT) {
    // A long command scrolls by itself: the content below many of them would be further down than browsers can scroll.
    block.classList.add('jp-mod-long');
    block.tabIndex = 0;
    block.setAttribute('role', 'group');
    block.setAttribute('aria-label', trans.__('A long command'));
  }
  return block;
}
