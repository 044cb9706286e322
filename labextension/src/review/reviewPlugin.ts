/** Shows waiting and new changes inside open documents. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { IDocumentWidget } from '@jupyterlab/docregistry';

import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager, IDocumentWidgetOpener } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { COMPARE } from '../diff/comparisonPlugin';
import { ToolsServer } from '../feed/requests';
import { IActivityFeed } from '../feed/tokens';
import { Words } from '../panel/words';
import { BegunReviews, IBegunReviews } from './begunReviews';
import { Decider } from './decider';
import { DocumentReview } from './documentReview';
import { KeptDecisions } from './keptDecisions';
import { followReached } from './reachedChange';
import { addReviewCommands } from './reviewCommands';
import { IUnseenChanges, UnseenChanges } from './unseenChanges';

export const unseenPlugin: JupyterFrontEndPlugin<IUnseenChanges> = {
  id: 'jupyter-fstools:unseen-changes',
  description: 'Knows which changes by assistants the person has not seen yet.',
  autoStart: true,
  requires: [IActivityFeed],
  provides: IUnseenChanges,
  activate: (app: JupyterFrontEnd, feed: IActivityFeed): IUnseenChanges =>
    new UnseenChanges(new ToolsServer(app.serviceManager.serverSettings), feed, app.serviceManager.contents)
};

export const reviewPlugin: JupyterFrontEndPlugin<IBegunReviews> = {
  id: 'jupyter-fstools:review',
  description: 'Shows changes by assistants in the open documents, to be decided about there.',
  autoStart: true,
  requires: [IDocumentManager, IDocumentWidgetOpener, IActivityFeed, IUnseenChanges],
  optional: [ITranslator, ICommandPalette],
  provides: IBegunReviews,
  activate: (
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    opener: IDocumentWidgetOpener,
    feed: IActivityFeed,
    unseen: IUnseenChanges,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ): IBegunReviews => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    const reviews = new Map<IDocumentWidget, DocumentReview>();
    const enter = async (path: string, by: 1 | -1): Promise<boolean> => {
      const opened = (await app.commands.execute('docmanager:open', { path })) as IDocumentWidget | undefined;
      await unseen.greeted;
      const review = reviews.get(opened!);
      // Notebook 7 shows it in another tab of the browser.
      return review ? review.enter(by) : true;
    };
    const leave = async (path: string, by: 1 | -1) => {
      for (const next of onwardFrom(path, unseen.paths, by)) {
        const place = unseen.contentsPath(next);
        // A file may be gone, or not be made yet, or show none of its changes.
        if (place !== null && (await enter(place, by).catch(() => false))) {
          return;
        }
      }
    };
    const parts = {
      server: new ToolsServer(app.serviceManager.serverSettings),
      decisions: new KeptDecisions(),
      unseen,
      feed,
      trans,
      words: new Words(trans),
      leave: (path: string, by: 1 | -1) => void leave(path, by),
      decided: () => reviews.forEach(review => review.draw()),
      compare: (id: string) => void app.commands.execute(COMPARE, { id })
    };
    opener.opened.connect((_, widget) => {
      // A view of a single output also belongs to a document's context, but is no document widget.
      if (manager.contextForWidget(widget) && 'context' in widget && !reviews.has(widget)) {
        void unseen.greeted.then(() => {
          if (!widget.isDisposed) {
            reviews.set(widget, new DocumentReview(widget, parts));
            widget.disposed.connect(() => reviews.delete(widget));
          }
        });
      }
    });
    unseen.changed.connect(() => reviews.forEach(review => review.draw()));
    feed.heard.connect((_, paths) => {
      const heard = [...reviews.values()].filter(
        ({ path }) => paths === null || (path !== null && paths.includes(path))
      );
      heard.forEach(review => review.look());
    });
    const current = () => [...reviews].find(([widget]) => widget === app.shell.currentWidget)?.[1] ?? null;
    addReviewCommands(app, current, trans, palette);
    window.addEventListener('keydown', keepKeys, true);
    followReached();
    return new BegunReviews(parts.server, parts.decisions, () => reviews.values(), new Decider(parts, () => null));
  }
};

/** Keys with which a person writes, and with which JupyterLab would run or take back what stands around the field. */
const WRITING = ['enter', 'z', 'y'];

/**
 * Keep some keys from JupyterLab's shortcuts: it would take Tab at buttons in an editor for the completer and tooltips.
 */
function keepKeys(event: KeyboardEvent): void {
  const { key, target } = event;
  const isMeant = (where: string) => target instanceof Element && target.closest(where) !== null;
  const isWriting = WRITING.includes(key.toLowerCase()) && isMeant('.jp-fstools-Review-controls :is(input, textarea)');
  if (isWriting || (key === 'Tab' && isMeant('.jp-fstools-Review-other'))) {
    event.stopImmediatePropagation();
  }
}

/** The files from one on, or back; the order wraps around, and ends with that file. */
function onwardFrom(path: string, paths: readonly string[], by: 1 | -1): string[] {
  const [after, before] = [paths.filter(other => other > path), paths.filter(other => other < path)];
  return [...(by > 0 ? [...after, ...before] : [...before.reverse(), ...after.reverse()]), path];
}
