/** Asks the person whether they mean it, then decides about all that waits. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';

import type { Decision, ToolsServer, Waiting } from './requests';
import type { IActivityFeed } from './tokens';
import type { Words } from './words';

/** What it takes to decide. */
export interface IDecisionParts {
  feed: IActivityFeed;
  server: ToolsServer;
  words: Words;
  trans: TranslationBundle;
}

/**
 * Decide about many changes at once; those that can be decided are, whatever becomes of the others.
 *
 * @throws Error - names those that were refused, and why.
 */
export async function decideAll(parts: IDecisionParts, decision: Decision, waiting: Waiting): Promise<void> {
  const { feed, server, trans } = parts;
  const outcomes = await server.decideAll(decision, waiting);
  await feed.refresh();
  const refused = outcomes.flatMap(({ path, error }) => (error ? [`${path ?? ''}: ${error.message}`] : []));
  if (refused.length) {
    const count = trans._n('%1 change was not decided:', '%1 changes were not decided:', refused.length);
    throw new Error([count, ...refused.slice(0, 5)].join('\n'));
  }
}

/** Decide about all that waits, if the person means it. */
export async function decideEverything(parts: IDecisionParts, decision: Decision): Promise<void> {
  if (!(await isMeant(parts, decision))) {
    return;
  }
  try {
    await decideAll(parts, decision, { path: '.' });
  } catch (error) {
    await showErrorMessage(parts.trans.__('Not everything was decided'), parts.words.problem(error));
  }
}

async function isMeant({ feed, trans }: IDecisionParts, decision: Decision): Promise<boolean> {
  const approves = decision === 'approve';
  const label = approves ? trans.__('Approve') : trans.__('Reject');
  const answer = await showDialog({
    title: approves
      ? trans._n('Approve the change that waits?', 'Approve all %1 changes that wait?', feed.waiting)
      : trans._n('Reject the change that waits?', 'Reject all %1 changes that wait?', feed.waiting),
    body: approves
      ? trans.__('A change whose file has become another since is refused, not merged.')
      : trans.__('No file is touched; the assistant is told.'),
    buttons: [Dialog.cancelButton(), approves ? Dialog.okButton({ label }) : Dialog.warnButton({ label })]
  });
  return answer.button.accept;
}
