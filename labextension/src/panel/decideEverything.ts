/** Asks for confirmation, then decides about exactly the changes that were listed. */

import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { Change, ChangeEvent } from '../payloads';
import type { Decision } from '../feed/requests';
import type { IActivityFeed } from '../feed/tokens';
import type { IBegunReviews } from '../review/begunReviews';
import type { IServerParts } from './words';

import { isCommand, isStepBack } from './commandText';
import { decisionList } from './decisionList';
import { element } from '../element';

/** Parts that are needed to decide. */
export interface IDecisionParts extends IServerParts {
  feed: IActivityFeed;
  /** The current user; empty until the server has named them. */
  user(): string;
  /** Null where no documents can be reviewed. */
  begun: IBegunReviews | null;
}

/** Decide about one change; of a proposal, parts that the person rejected or edited in a document stay so. */
export function decide({ server, begun }: IDecisionParts, step: Decision, id: string): Promise<Change> {
  const isOfProposal = step === 'approve' || step === 'reject';
  return isOfProposal && begun?.has(id) ? begun.decide(id, step) : server.decide(id, step);
}

/** The changes of the list that wait. */
export function waitingIn({ entries }: IActivityFeed): ChangeEvent[] {
  return entries.filter(entry => entry.kind === 'change').filter(({ status }) => status === 'proposed');
}

/**
 * Those of some changes to which a step applies now. Only changes that fit their file and were shown in full can be
 * approved: in the panel, or for a command, in the dialog that asks.
 */
export function fit(step: Decision, changes: readonly ChangeEvent[], { feed, user }: IDecisionParts): ChangeEvent[] {
  const standing = changes.filter(change => change.status === 'applied' && !isStepBack(change) && !isCommand(change));
  switch (step) {
    case 'approve':
      return changes.filter(
        change => change.status === 'proposed' && !change.stale && (isCommand(change) || feed.shown.has(change.id))
      );
    case 'reject':
      return changes.filter(({ status }) => status === 'proposed');
    case 'undo':
      return standing.some(({ undoable }) => undoable) ? standing : [];
    case 'keep':
      return standing.filter(({ seen_by }) => !seen_by.includes(user()));
  }
}

/** Apply a step to those changes that it fits, if the person confirms it; show the refusals. */
export async function decideAll(parts: IDecisionParts, step: Decision, changes: readonly ChangeEvent[]): Promise<void> {
  try {
    await decided(parts, step, changes);
  } catch (error) {
    await showErrorMessage(parts.trans.__('Not everything was done'), parts.words.problem(error));
  }
}

async function decided(parts: IDecisionParts, step: Decision, changes: readonly ChangeEvent[]): Promise<void> {
  const { trans } = parts;
  const chosen = fit(step, changes, parts);
  if (!chosen.length) {
    throw new Error(trans.__('None of these changes is waiting any more.'));
  }
  if (step !== 'keep' && !(await isMeant(parts, step, chosen, changes))) {
    return;
  }
  const isOfProposals = step === 'approve' || step === 'reject';
  const refused = await (isOfProposals && !chosen.some(({ id }) => parts.begun?.has(id))
    ? decidedAtOnce(parts, step, chosen)
    : decidedInTurn(parts, step, isOfProposals ? [...chosen].reverse() : chosen));
  if (refused.length) {
    const count = trans._n('%1 change was refused:', '%1 changes were refused:', refused.length);
    throw new Error([count, ...refused.slice(0, 5)].join('\n'));
  }
}

/** Decide by ids, because newer changes were not shown; oldest first, in the order in which they were proposed. */
async function decidedAtOnce(
  { feed, server }: IDecisionParts,
  step: 'approve' | 'reject',
  chosen: ChangeEvent[]
): Promise<string[]> {
  const paths = new Map(chosen.map(({ id, path }) => [id, path]));
  const outcomes = await server.decideAll(step, [...paths.keys()].reverse());
  outcomes.forEach(({ change }) => change && feed.note(change));
  return outcomes.flatMap(({ id, error }) => (error ? [`${paths.get(id)}: ${error.message}`] : []));
}

/** Decide one by one; undone newest first, because an older change of a file can only be undone after a newer one. */
async function decidedInTurn(parts: IDecisionParts, step: Decision, chosen: ChangeEvent[]): Promise<string[]> {
  const { feed, words } = parts;
  const refused: string[] = [];
  for (const { id, path } of chosen) {
    try {
      feed.note(await decide(parts, step, id));
    } catch (error) {
      refused.push(`${path}: ${words.problem(error)}`);
    }
  }
  return refused;
}

async function isMeant(
  parts: IDecisionParts,
  step: Exclude<Decision, 'keep'>,
  chosen: readonly ChangeEvent[],
  asked: readonly ChangeEvent[]
): Promise<boolean> {
  const { trans, words } = parts;
  const counted = words.counted(chosen);
  const [title, label, result] = {
    approve: [
      trans.__('Approve %1?', counted),
      trans.__('Approve'),
      [
        trans.__('A change is refused if its file was modified in the meantime.'),
        ...(chosen.some(({ id }) => parts.begun?.has(id))
          ? [trans.__('Parts that you rejected or edited in a document stay so.')]
          : []),
        ...(chosen.some(isCommand) ? [trans.__('A command runs at once.')] : [])
      ].join(' ')
    ],
    reject: [
      trans.__('Reject %1?', counted),
      trans.__('Reject'),
      trans.__('No file is modified and no command runs; the assistant is told.')
    ],
    undo: [
      trans.__('Undo %1?', counted),
      trans.__('Undo'),
      trans.__('Each file becomes what it was before. A file that was modified in the meantime stays as it is.')
    ]
  }[step];
  const node = element('div', '');
  node.append(await decisionList(chosen, parts), element('p', '', result));
  const rest = step === 'approve' ? asked.filter(({ status }) => status === 'proposed').length - chosen.length : 0;
  if (rest) {
    const others = trans._n(
      '%1 other goes on waiting: it is out of date, or its diff was not shown yet.',
      '%1 others go on waiting: they are out of date, or their diffs were not shown yet.',
      rest
    );
    node.append(element('p', '', others));
  }
  const button = step === 'approve' ? Dialog.okButton({ label }) : Dialog.warnButton({ label });
  const answer = await showDialog({ title, body: new Widget({ node }), buttons: [Dialog.cancelButton(), button] });
  return answer.button.accept;
}
