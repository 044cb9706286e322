/** Provides the feed of activity to the panel and to other extensions. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { ActivityFeed } from './activityFeed';
import { ToolsServer } from './requests';
import { IActivityFeed } from './tokens';

export const feedPlugin: JupyterFrontEndPlugin<IActivityFeed> = {
  id: 'jupyter-fstools:feed',
  description: 'Tells what assistants read, changed and were refused, as it happens.',
  autoStart: true,
  optional: [ITranslator],
  provides: IActivityFeed,
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): IActivityFeed => {
    const { events, serverSettings } = app.serviceManager;
    const feed = new ActivityFeed({
      server: new ToolsServer(serverSettings),
      stream: events.stream,
      trans: (translator ?? nullTranslator).load('jupyter_fstools'),
      filter: { kinds: ['change', 'read', 'refusal'] }
    });
    // The first request can wait until the page is restored.
    void app.restored.then(() => feed.start());
    return feed;
  }
};
