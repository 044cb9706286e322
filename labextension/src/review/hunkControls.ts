/** Draws the buttons at one hunk or cell of a change in a document. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Change } from '../payloads';

import { element } from '../element';

/** What is decided at a hunk. */
export type HunkDecision = 'approve' | 'reject' | 'keep' | 'undo';

/** A hunk, and what can be decided about it. */
export interface IHunkState {
  change: Change;
  /** What the person has decided so far; undefined for nothing. */
  taken: boolean | undefined;
  /** How many hunks the change has. */
  count: number;
  /** Whether the change can be undone, or is covered by a later one. */
  undoable: boolean;
  /** What happens here beside lines: a cell is moved, say; empty for lines alone. */
  note: string;
  decide(decision: HunkDecision, reason: string): void;
}

/** Draw them. */
export function hunkControls(state: IHunkState, trans: TranslationBundle): HTMLElement {
  const { change, taken, count, note } = state;
  const row = element('div', 'jp-fstools-Review-controls');
  row.setAttribute('role', 'group');
  row.setAttribute('aria-label', trans.__('Change by %1', change.session));
  row.append(element('span', 'jp-fstools-Review-session', [change.session, note].filter(Boolean).join(': ')));
  if (change.status === 'proposed') {
    const reason = element('input', 'jp-fstools-Review-reason jp-mod-styled');
    reason.placeholder = trans.__('Reason (optional)');
    reason.setAttribute('aria-label', trans.__('Reason for rejecting'));
    const decide = (decision: HunkDecision) => state.decide(decision, reason.value.trim());
    row.append(
      button('approve', trans.__('Approve'), taken === true, decide),
      button('reject', trans.__('Reject'), taken === false, decide),
      reason
    );
    if (taken !== undefined && count > 1) {
      const waits = trans.__('Carried out once every part of this change is decided.');
      row.append(element('span', 'jp-fstools-Review-waits', waits));
    }
  } else {
    const decide = (decision: HunkDecision) => state.decide(decision, '');
    row.append(button('keep', trans.__('Keep'), false, decide));
    if (state.undoable) {
      row.append(button('undo', trans.__('Undo'), false, decide));
    }
    row.append(oldTextButton(trans));
  }
  return row;
}

function button(
  decision: HunkDecision,
  label: string,
  pressed: boolean,
  decide: (decision: HunkDecision) => void
): HTMLElement {
  const made = element('button', 'jp-fstools-Button', label);
  made.dataset.action = decision;
  made.setAttribute('aria-pressed', String(pressed));
  made.onclick = () => decide(decision);
  return made;
}

/** Shows and hides the lines that were there before, all of the hunk's. */
function oldTextButton(trans: TranslationBundle): HTMLElement {
  const made = element('button', 'jp-fstools-Button', trans.__('Show old text'));
  made.dataset.action = 'old';
  made.setAttribute('aria-expanded', 'false');
  made.onclick = () => {
    const lines = made.closest('.jp-fstools-Review-other')?.querySelector<HTMLElement>('.jp-fstools-Review-lines');
    if (lines) {
      lines.hidden = !lines.hidden;
      made.setAttribute('aria-expanded', String(!lines.hidden));
    }
  };
  return made;
}
