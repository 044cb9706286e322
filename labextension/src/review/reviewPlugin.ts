/** Shows waiting and new changes inside open documents. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { IDocumentWidget } from '@jupyterlab/docregistry';

import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager, IDocumentWidgetOpener } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { Decisions } from './decisions';

import { COMPARE } from '../diff/comparisonPlugin';
import { ToolsServer } from '../feed/requests';
import { IActivityFeed } from '../feed/tokens';
import { Words } from '../panel/words';
import { DocumentReview } from './documentReview';
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

export const reviewPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:review',
  description: 'Shows changes by assistants in the open documents, to be decided about there.',
  autoStart: true,
  requires: [IDocumentManager, IDocumentWidgetOpener, IActivityFeed, IUnseenChanges],
  optional: [ITranslator, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    opener: IDocumentWidgetOpener,
    feed: IActivityFeed,
    unseen: IUnseenChanges,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    const reviews = new Map<IDocumentWidget, DocumentReview>();
    const leave = async (path: string, by: 1 | -1) => {
      const next = neighbour(unseen.paths, path, by);
      const place = next === null ? null : unseen.contentsPath(next);
      if (place !== null) {
        const opened = (await app.commands.execute('docmanager:open', { path: place })) as IDocumentWidget | undefined;
        await unseen.greeted;
        reviews.get(opened!)?.enter(by);
      }
    };
    const parts = {
      server: new ToolsServer(app.serviceManager.serverSettings),
      decisions: new Map<string, Decisions>(),
      unseen,
      feed,
      trans,
      words: new Words(trans),
      leave: (path: string, by: 1 | -1) => void leave(path, by).catch(() => undefined),
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
    window.addEventListener('keydown', keepTab, true);
    followReached();
  }
};

/** Let Tab move on from buttons in an editor: JupyterLab's shortcuts would take it for the completer and tooltips. */
function keepTab(event: KeyboardEvent): void {
  const { key, target } = event;
  if (key === 'Tab' && target instanceof Element && target.closest('.jp-fstools-Review-other')) {
    event.stopImmediatePropagation();
  }
}

/** The file after another one, or before it; the order wraps around. */
function neighbour(paths: readonly string[], path: string, by: 1 | -1): string | null {
  const others = paths.filter(other => other !== path);
  const onward = others.filter(other => (by > 0 ? other > path : other < path));
  const [from, around] = by > 0 ? [onward[0], others[0]] : [onward.at(-1), others.at(-1)];
  return from ?? around ?? null;
}
