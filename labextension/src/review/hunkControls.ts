/** Draws the buttons at one hunk or cell of a change in a document. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Decision } from '../feed/requests';
import type { Change } from '../payloads';
import type { IDecisionDetail } from './decisions';

import { actionButton, element } from '../element';

/** A person's unfinished reason and text at a hunk; the fields for them are drawn again when they come into sight. */
export interface IDraft {
  reason: string;
  /** The text to write instead; null while its field is not open. */
  text: string | null;
}

/** A hunk, and what can be decided about it. */
export interface IHunkState {
  /** The key by which its buttons are found again after they were redrawn. */
  id: string;
  change: Change;
  /** Whether the person approved (true) or rejected (false) all of it; undefined otherwise. */
  taken: boolean | undefined;
  /** Whether it is one of several parts of a change, which is carried out once all parts are decided. */
  isPart: boolean;
  /** Whether the change can be undone here. */
  undoable: boolean;
  /** Where it waits and no longer fits, in words; else empty. */
  stale: string;
  /** Names a change other than of lines, e.g. that a cell is moved; empty for lines alone. */
  note: string;
  /** The proposed text, for the person to edit; null where there is none, and where it cannot be approved. */
  proposed: string | null;
  /** The text that the person wrote instead when they approved it before. */
  written: string | undefined;
  /** Whether the old lines are shown, and what shows or hides them; null where there are none. */
  old: { isShown: boolean; toggle(): boolean } | null;
  draft: IDraft;
  decide(decision: Decision, detail: IDecisionDetail): void;
  /** Show the whole change in the main area. */
  compare(): void;
}

/** Draw the session, the notes and the buttons of a hunk. */
export function hunkControls(state: IHunkState, trans: TranslationBundle): HTMLElement {
  const { change, note, stale } = state;
  const row = element('div', 'jp-fstools-Review-controls');
  row.dataset.hunk = state.id;
  row.setAttribute('role', 'group');
  // JupyterLab would refuse what it takes for its own cell's: a new line, and the undo of what was typed.
  row.addEventListener('beforeinput', event => event.stopPropagation(), true);
  row.setAttribute('aria-label', trans.__('Change by %1', change.session));
  const session = element('span', 'jp-fstools-Review-session', change.session);
  session.title = change.session;
  row.append(session);
  if (note) {
    row.append(element('span', 'jp-fstools-Review-said', note));
  }
  if (stale) {
    row.append(element('span', 'jp-fstools-ReviewBar-stale', stale));
  }
  row.append(...(change.status === 'proposed' ? waitingButtons(row, state, trans) : madeButtons(state, trans)));
  const compare = button('compare', trans.__('Compare'), () => state.compare());
  compare.title = trans.__('Show the whole change in the main area');
  row.append(compare);
  if (state.proposed !== null && state.draft.text !== null) {
    row.append(textArea(state.draft, trans));
  }
  return row;
}

function waitingButtons(row: HTMLElement, state: IHunkState, trans: TranslationBundle): HTMLElement[] {
  const { draft, taken, proposed, written, stale } = state;
  const reason = element('input', 'jp-fstools-Review-reason jp-mod-styled');
  reason.placeholder = trans.__('Reason (optional)');
  reason.setAttribute('aria-label', trans.__('Reason for rejecting'));
  reason.value = draft.reason;
  reason.oninput = () => (draft.reason = reason.value);
  const decide = (decision: Decision) => {
    const text = (proposed === null ? null : draft.text) ?? written;
    state.decide(decision, { reason: draft.reason.trim(), text: text === proposed ? undefined : text });
  };
  const buttons: HTMLElement[] = [
    ...(stale ? [] : [button('approve', trans.__('Approve'), () => decide('approve'), taken === true)]),
    button('reject', trans.__('Reject'), () => decide('reject'), taken === false),
    ...(proposed === null ? [] : [editButton(row, written ?? proposed, draft, trans)]),
    reason
  ];
  if (taken !== undefined && state.isPart) {
    const waits = trans.__('Carried out once every part of this change is decided.');
    buttons.push(element('span', 'jp-fstools-Review-waits', waits));
  }
  return buttons;
}

function madeButtons({ decide, undoable, old }: IHunkState, trans: TranslationBundle): HTMLElement[] {
  return [
    button('keep', trans.__('Keep'), () => decide('keep', {})),
    ...(undoable ? [button('undo', trans.__('Undo'), () => decide('undo', {}))] : []),
    ...(old ? [oldTextButton(old, trans)] : [])
  ];
}

function button(action: string, label: string, act: () => void, pressed?: boolean): HTMLButtonElement {
  const made = actionButton(action, label);
  if (pressed !== undefined) {
    made.setAttribute('aria-pressed', String(pressed));
  }
  made.onclick = act;
  return made;
}

/** A button that opens the proposed text for editing; approving then applies the edited text. */
function editButton(row: HTMLElement, proposed: string, draft: IDraft, trans: TranslationBundle): HTMLElement {
  const made = button('edit', trans.__('Edit'), () => {
    const open = row.querySelector('.jp-fstools-Review-edit');
    made.setAttribute('aria-expanded', String(!open));
    draft.text = open ? null : proposed;
    if (open) {
      open.remove();
      return;
    }
    const area = textArea(draft, trans);
    row.append(area);
    area.focus();
  });
  made.setAttribute('aria-expanded', String(draft.text !== null));
  return made;
}

function textArea(draft: IDraft, trans: TranslationBundle): HTMLTextAreaElement {
  const area = element('textarea', 'jp-fstools-Review-edit jp-mod-styled');
  area.setAttribute('aria-label', trans.__('Text to write instead'));
  area.value = draft.text ?? '';
  area.rows = Math.min(area.value.split('\n').length + 1, 20);
  area.spellcheck = false;
  area.oninput = () => (draft.text = area.value);
  return area;
}

/** A button that shows and hides the hunk's old lines. */
function oldTextButton({ isShown, toggle }: NonNullable<IHunkState['old']>, trans: TranslationBundle): HTMLElement {
  const made = button('old', trans.__('Show old text'), () => {
    made.setAttribute('aria-expanded', String(toggle()));
  });
  made.setAttribute('aria-expanded', String(isShown));
  return made;
}
