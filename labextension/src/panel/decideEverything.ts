/** Asks the person whether they mean it, then decides about what waits: exactly what they were shown. */

import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

import type { INamingParts } from './decisionList';
import type { Change } from '../payloads';
import type { Decision } from '../feed/requests';
import type { IActivityFeed, IActivityFilter } from '../feed/tokens';

import { isWanted } from '../feed/activityFeed';
import { decisionList } from './decisionList';
import { element } from '../element';

/** What it takes to decide. */
export interface IDecisionParts extends INamingParts {
  feed: IActivityFeed;
}

/** Whether something waits that the list shows, or may show further down. */
export function isOffered({ entries, filter, hasMore, waiting }: IActivityFeed): boolean {
  const listsWaiting = filter.status === undefined ? filter.kinds.includes('change') : filter.status === 'proposed';
  const isListed = entries.some(entry => isWanted(entry, { kinds: [], status: 'proposed' }));
  return waiting > 0 && listsWaiting && (isListed || hasMore);
}

/**
 * Decide about all that waits of what a filter asks for, if the person means it; those that can be decided are,
 * whatever becomes of the others.
 *
 * @throws Error - names those that were refused, and why.
 */
export async function decideAll(parts: IDecisionParts, decision: Decision, filter: IActivityFilter): Promise<void> {
  const { feed, server, trans } = parts;
  const waiting = await server.waiting(filter);
  if (!waiting.length) {
    await feed.refresh();
    throw new Error(trans.__('Nothing of it waits any more.'));
  }
  if (!(await isMeant(parts, decision, waiting))) {
    return;
  }
  // By their ids: what has come since was not shown. The oldest first, as they were asked for.
  const outcomes = await server.decideAll(decision, waiting.map(change => change.id).reverse());
  await feed.refresh();
  const paths = new Map(waiting.map(({ id, path }) => [id, path]));
  const refused = outcomes.flatMap(({ id, error }) => (error ? [`${paths.get(id)}: ${error.message}`] : []));
  if (refused.length) {
    const count = trans._n('%1 was not decided:', '%1 were not decided:', refused.length);
    throw new Error([count, ...refused.slice(0, 5)].join('\n'));
  }
}

/** Decide about all that waits in the list, if the person means it. */
export async function decideEverything(parts: IDecisionParts, decision: Decision): Promise<void> {
  try {
    await decideAll(parts, decision, parts.feed.filter);
  } catch (error) {
    await showErrorMessage(parts.trans.__('Not everything was decided'), parts.words.problem(error));
  }
}

async function isMeant(parts: IDecisionParts, decision: Decision, waiting: readonly Change[]): Promise<boolean> {
  const { trans, words } = parts;
  const approves = decision === 'approve';
  const label = approves ? trans.__('Approve') : trans.__('Reject');
  const commands = waiting.filter(change => change.diff.op === 'execute').length;
  const counted = words.counted(waiting.length - commands, commands);
  const result = approves
    ? trans.__('A change whose file has become another since is refused, not merged. A command is run at once.')
    : trans.__('No file is touched, nothing is run; the assistant is told.');
  const node = element('div', '');
  node.append(await decisionList(waiting, parts), element('p', '', result));
  const answer = await showDialog({
    title: approves ? trans.__('Approve %1?', counted) : trans.__('Reject %1?', counted),
    body: new Widget({ node }),
    buttons: [Dialog.cancelButton(), approves ? Dialog.okButton({ label }) : Dialog.warnButton({ label })]
  });
  return answer.button.accept;
}
