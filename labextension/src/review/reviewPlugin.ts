/** Shows what waits and what is new inside the documents that are open. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { IDocumentWidget } from '@jupyterlab/docregistry';
import type { Event } from '@jupyterlab/services';

import { ICommandPalette } from '@jupyterlab/apputils';
import { IDocumentManager, IDocumentWidgetOpener } from '@jupyterlab/docmanager';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import type { RootBelowContents } from '../paths';

import { CHANGE_EVENT } from '../feed/activityFeed';
import { ToolsServer } from '../feed/requests';
import { Words } from '../panel/words';
import { contentsPath, toolsPath } from '../paths';
import { DocumentReview } from './documentReview';

const NEXT = 'jupyter-fstools:next-change';
const PREVIOUS = 'jupyter-fstools:previous-change';

export const reviewPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:review',
  description: 'Shows changes by assistants in the open documents, to be decided about there.',
  autoStart: true,
  requires: [IDocumentManager, IDocumentWidgetOpener],
  optional: [ITranslator, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    manager: IDocumentManager,
    opener: IDocumentWidgetOpener,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    const { events, serverSettings } = app.serviceManager;
    const server = new ToolsServer(serverSettings);
    const reviews = new Map<IDocumentWidget, DocumentReview>();
    let root: RootBelowContents = null;
    let user: string | null = null;
    const greeted = server.status().then(
      status => {
        root = status.contents_path;
        user = status.user;
      },
      () => undefined
    );

    const leave = async (path: string, by: 1 | -1) => {
      const waiting = [...new Set((await server.waiting({})).map(change => change.path))].sort();
      const others = waiting.filter(other => (by > 0 ? other > path : other < path));
      const next = by > 0 ? (others[0] ?? waiting[0]) : (others.at(-1) ?? waiting.at(-1));
      const place = next === undefined || next === path ? null : contentsPath(next, root);
      if (place !== null) {
        await app.commands.execute('docmanager:open', { path: place });
      }
    };
    const parts = {
      server,
      trans,
      words: new Words(trans),
      toolsPath: (path: string) => toolsPath(path, root),
      user: () => user,
      leave: (path: string, by: 1 | -1) => void leave(path, by).catch(() => undefined)
    };
    opener.opened.connect((_, widget) => {
      if (manager.contextForWidget(widget) && !reviews.has(widget)) {
        void greeted.then(() => {
          if (!widget.isDisposed) {
            reviews.set(widget, new DocumentReview(widget, parts));
            widget.disposed.connect(() => reviews.delete(widget));
          }
        });
      }
    });
    events.stream.connect((_, event: Event.Emission) => {
      if (event.schema_id === CHANGE_EVENT) {
        const { path } = event as unknown as { path: string };
        [...reviews.values()].filter(review => review.path === path).forEach(review => review.look());
      }
    });
    addCommands(app, palette, trans, by => {
      const current = [...reviews].find(([widget]) => widget === app.shell.currentWidget);
      current?.[1].step(by);
    });
  }
};

function addCommands(
  app: JupyterFrontEnd,
  palette: ICommandPalette | null,
  trans: ReturnType<ITranslator['load']>,
  step: (by: 1 | -1) => void
): void {
  const describedBy = { args: { type: 'object', properties: {} } };
  app.commands.addCommand(NEXT, {
    describedBy,
    label: trans.__('Next Change by an Assistant'),
    execute: () => step(1)
  });
  app.commands.addCommand(PREVIOUS, {
    describedBy,
    label: trans.__('Previous Change by an Assistant'),
    execute: () => step(-1)
  });
  for (const [command, keys] of [
    [NEXT, 'Alt F5'],
    [PREVIOUS, 'Alt Shift F5']
  ]) {
    palette?.addItem({ command, category: trans.__('File Tools') });
    app.commands.addKeyBinding({ command, keys: [keys], selector: 'body' });
  }
}
