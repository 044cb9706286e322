/** Opens whole changes in the main area. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { TabPanel } from '@lumino/widgets';

import type { ChangeComparison } from './changeComparison';

import { ToolsServer } from '../feed/requests';
import { IActivityFeed } from '../feed/tokens';
import { Words } from '../panel/words';
import { IBegunReviews } from '../review/begunReviews';
import { IUnseenChanges } from '../review/unseenChanges';

/** Takes the `id` of a change; without one it shows the newest waiting change, or else the newest applied one. */
export const COMPARE = 'jupyter-fstools:compare';

export const comparisonPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:comparison',
  description: 'Shows whole changes in the main area, side by side or in one column.',
  autoStart: true,
  requires: [IActivityFeed, IUnseenChanges, IRenderMimeRegistry, IEditorLanguageRegistry],
  optional: [ITranslator, ICommandPalette, IBegunReviews],
  activate: (
    app: JupyterFrontEnd,
    feed: IActivityFeed,
    unseen: IUnseenChanges,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    begun: IBegunReviews | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    const server = new ToolsServer(app.serviceManager.serverSettings);
    const user = () => unseen.user;
    const parts = { feed, server, rendermime, languages, trans, user, words: new Words(trans, user), begun };
    const opened = new Map<string, ChangeComparison>();

    const newest = async () => {
      const found = [...(await server.waiting()), ...(await server.made())];
      return found.find(({ diff }) => diff.op !== 'execute')?.id;
    };
    app.commands.addCommand(COMPARE, {
      describedBy: { args: { type: 'object', properties: { id: { type: 'string' } } } },
      label: trans.__('Compare a Change by an Assistant'),
      caption: trans.__('Show the newest change that waits, before and after, in the main area'),
      isEnabled: args => args.id !== undefined || feed.waiting > 0 || unseen.mayCompare,
      execute: async args => {
        const id = (args.id as string | undefined) ?? (await newest());
        if (id === undefined) {
          return;
        }
        const { ChangeComparison } = await import('./changeComparison');
        const known = opened.get(id);
        const shown = known && !known.isDisposed ? known : new ChangeComparison(id, parts);
        opened.set(id, shown);
        shown.id = `jp-fstools-change-${id}`;
        shown.disposed.connect(() => opened.delete(id));
        if (!shown.isAttached) {
          app.shell.add(shown, 'main');
        }
        // The main area of Notebook 7 takes one widget only.
        if (!shown.isAttached) {
          shown.addClass('jp-mod-down');
          app.shell.add(shown, 'down');
        }
        // Notebook 7 leaves another tab in front.
        const tabs = shown.parent?.parent;
        if (tabs instanceof TabPanel) {
          tabs.currentWidget = shown;
        }
        app.shell.activateById(shown.id);
      }
    });
    palette?.addItem({ command: COMPARE, category: trans.__('File Tools') });
  }
};
