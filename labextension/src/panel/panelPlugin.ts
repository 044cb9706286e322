/** The panel, its badge and notice, the commands and the settings. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';

import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import { Dialog, ICommandPalette, showDialog } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ServerConnection } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { editIcon } from '@jupyterlab/ui-components';

import type { IDecisionParts } from './decideEverything';
import type { Decision, IServerStatus } from '../feed/requests';
import type { IPanelSettings } from './settings';
import type { Entry } from '../feed/tokens';

import { ActivityPanel } from './activityPanel';
import { addCommands } from './commands';
import { decideEverything } from './decideEverything';
import { contentsPath, toolsPath } from '../paths';
import { ToolsServer } from '../feed/requests';
import { PanelSettings } from './settings';
import { IActivityFeed } from '../feed/tokens';
import { VERSION } from '../version';
import { WaitingNotice } from './waitingNotice';
import { Words } from './words';

const BADGE = 'jp-fstools-waiting';

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:plugin',
  description: 'Shows what assistants do to the files; approves, rejects and undoes it.',
  autoStart: true,
  requires: [IActivityFeed, IRenderMimeRegistry, IEditorLanguageRegistry],
  optional: [ITranslator, ICommandPalette, IFileBrowserFactory, ISettingRegistry, ILayoutRestorer, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    feed: IActivityFeed,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    browser: IFileBrowserFactory | null,
    registry: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    const server = new ToolsServer(app.serviceManager.serverSettings);
    const words = new Words(trans);
    const parts = { feed, server, words, trans };
    const decide = (decision: Decision) => decideEverything(parts, decision);
    let root: IServerStatus['contents_path'] = '';

    const panel = new ActivityPanel({
      ...parts,
      decideEverything: decide,
      open: async path => {
        const place = contentsPath(path, root);
        if (place === null) {
          throw new Error(trans.__('The file lies outside the folder that JupyterLab shows.'));
        }
        await app.commands.execute('docmanager:open', { path: place }).catch((error: Error) => {
          const isGone = error instanceof ServerConnection.ResponseError && error.response.status === 404;
          throw isGone ? new Error(trans.__('The file is not there any more.')) : error;
        });
      },
      showDiff: async change => {
        const { createDiffViews } = await import('../diff/diffView');
        return createDiffViews(change.files.length ? change.files : [change], { rendermime, languages, trans });
      }
    });
    panel.title.icon = editIcon;
    showCount(panel, parts);
    app.shell.add(panel, 'right', { rank: 850, type: 'File Tools' });
    restorer?.add(panel, panel.id);

    const showPanel = () => {
      labShell?.expandRight();
      app.shell.activateById(panel.id);
    };
    const showWaiting = () => {
      feed.filter = { kinds: feed.filter.kinds, status: 'proposed' };
      showPanel();
    };
    const notice = new WaitingNotice(feed, showWaiting, words, trans);
    panel.seen.connect((_, isSeen) => {
      notice.isSeen = isSeen;
    });
    const toTools = (path: string) => toolsPath(path, root);
    addCommands({ ...parts, app, browser, toolsPath: toTools, showPanel, decideEverything: decide }, palette);

    const settings = registry
      ? new PanelSettings(registry, chosen => {
          feed.filter = { ...feed.filter, kinds: kindsOf(chosen) };
          notice.isWanted = chosen.notifications;
        })
      : null;

    const greet = async () => {
      const status = await server.status();
      root = status.contents_path;
      panel.approval = words.approval(status.approval);
      await compareVersions(status, trans);
      await settings?.showApproval(words.approval(status.approval));
    };
    // Where the server has no such half, the panel says so.
    void app.restored.then(greet).catch(() => undefined);
  }
};

function kindsOf({ reads, refusals }: IPanelSettings): Entry['kind'][] {
  return ['change', ...(reads ? (['read'] as const) : []), ...(refusals ? (['refusal'] as const) : [])];
}

/** The badge on the panel's tab, and the words for it. */
function showCount(panel: ActivityPanel, { feed, words, trans }: IDecisionParts): void {
  const show = () => {
    const { waiting } = feed;
    const waits = waiting ? ` (${words.waiting(waiting)})` : '';
    panel.title.caption = trans.__('File tools: what assistants do to your files') + waits;
    const { [BADGE]: _, ...others } = panel.title.dataset;
    panel.title.dataset = waiting ? { ...others, [BADGE]: String(Math.min(waiting, 999)) } : others;
  };
  feed.changed.connect(show);
  show();
}

async function compareVersions({ version }: IServerStatus, trans: TranslationBundle): Promise<void> {
  if (version === VERSION) {
    return;
  }
  await showDialog({
    title: trans.__('Two versions of the file tools'),
    body: trans.__(
      'The server runs jupyter-fstools %1, this page %2. Reload the page; if this appears again, restart the server.',
      version,
      VERSION
    ),
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
