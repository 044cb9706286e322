/** Adds the panel, its badge and notice, the commands and the settings. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';

import { ILabShell, ILayoutRestorer } from '@jupyterlab/application';
import { Dialog, ICommandPalette, showDialog } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ServerConnection } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { editIcon } from '@jupyterlab/ui-components';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { IDecisionParts } from './decideEverything';
import type { IServerStatus } from '../feed/requests';
import type { IPanelSettings } from './settings';
import type { Entry, IActivityFilter } from '../feed/tokens';

import { ActivityPanel } from './activityPanel';
import { addCommands } from './commands';
import { COMPARE } from '../diff/comparisonPlugin';
import { filesOf } from '../feed/changedFiles';
import { ToolsServer } from '../feed/requests';
import { PanelSettings } from './settings';
import { IActivityFeed } from '../feed/tokens';
import { IBegunReviews } from '../review/begunReviews';
import { IUnseenChanges } from '../review/unseenChanges';
import { VERSION } from '../version';
import { WaitingNotice } from './waitingNotice';
import { Words } from './words';

const BADGE = 'jp-fstools-waiting';
const FILTER = 'jupyter-fstools:filter';

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:plugin',
  description: 'Shows what assistants do to the files; approves, rejects and undoes it.',
  autoStart: true,
  requires: [IActivityFeed, IUnseenChanges, IRenderMimeRegistry, IEditorLanguageRegistry],
  optional: [
    ITranslator,
    ICommandPalette,
    IFileBrowserFactory,
    ISettingRegistry,
    ILayoutRestorer,
    ILabShell,
    IStateDB,
    IBegunReviews
  ],
  activate: (
    app: JupyterFrontEnd,
    feed: IActivityFeed,
    unseen: IUnseenChanges,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    browser: IFileBrowserFactory | null,
    registry: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    labShell: ILabShell | null,
    state: IStateDB | null,
    begun: IBegunReviews | null
  ): void => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    const server = new ToolsServer(app.serviceManager.serverSettings);
    let kinds: readonly Entry['kind'][] = feed.filter.kinds;
    const user = () => unseen.user;
    const words = new Words(trans, user);
    const parts = { feed, server, words, trans, user, begun };
    const remember = (filter: IActivityFilter) =>
      void state?.save(FILTER, filter as unknown as ReadonlyPartialJSONObject);

    const panel = new ActivityPanel({
      ...parts,
      kinds: () => kinds,
      choose: filter => {
        feed.filter = filter;
        remember(filter);
      },
      open: async path => {
        await unseen.greeted;
        const place = unseen.contentsPath(path);
        if (place === null) {
          throw new Error(trans.__('The file lies outside the folder that JupyterLab shows.'));
        }
        await app.commands.execute('docmanager:open', { path: place }).catch((error: Error) => {
          const isGone = error instanceof ServerConnection.ResponseError && error.response.status === 404;
          throw isGone ? new Error(trans.__('The file no longer exists.')) : error;
        });
      },
      compare: id => app.commands.execute(COMPARE, { id }),
      showDiff: async ({ change, changed_since }) => {
        const { createDiffViews, createOutcomeView, createReasonView } = await import('../diff/diffView');
        const shown = createDiffViews(filesOf(change), changed_since, { rendermime, languages, trans });
        if (change.decided?.reason) {
          shown.insertWidget(0, createReasonView(change.decided.reason, trans));
        }
        return change.ran ? createOutcomeView(shown, change.ran, trans) : shown;
      }
    });
    panel.title.icon = editIcon;
    showCount(panel, parts);
    app.shell.add(panel, 'right', { rank: 850, type: 'File Tools' });
    restorer?.add(panel, panel.id);
    void state?.fetch(FILTER).then(saved => {
      if (saved) {
        const filter = saved as unknown as IActivityFilter;
        feed.filter = filter.kinds.length === 1 ? filter : { ...filter, kinds };
      }
    });

    const showPanel = () => {
      labShell?.expandRight();
      app.shell.activateById(panel.id);
    };
    const showWaiting = () => {
      feed.filter = { kinds, status: 'proposed' };
      showPanel();
    };
    const notice = new WaitingNotice(feed, showWaiting, () => app.commands.execute(COMPARE), words, trans);
    panel.seen.connect((_, isSeen) => {
      notice.isSeen = isSeen;
    });
    addCommands({ ...parts, app, browser, unseen, showPanel, kinds: () => kinds }, palette);

    const settings = registry
      ? new PanelSettings(registry, chosen => {
          const wasUsual = feed.filter.kinds === kinds;
          kinds = kindsOf(chosen);
          if (wasUsual) {
            feed.filter = { ...feed.filter, kinds };
          }
          notice.isWanted = chosen.notifications;
        })
      : null;

    const greet = async () => {
      const status = await unseen.greeted;
      // If the server extension is missing, the panel says so.
      if (status) {
        panel.approval = words.approval(status.approval);
        await compareVersions(status, trans);
        await settings?.showApproval(words.approval(status.approval));
      }
    };
    void app.restored.then(greet).catch(() => undefined);
  }
};

function kindsOf({ reads, refusals }: IPanelSettings): Entry['kind'][] {
  return ['change', ...(reads ? (['read'] as const) : []), ...(refusals ? (['refusal'] as const) : [])];
}

/** Show the number of waiting changes as a badge and in the caption of the panel's tab. */
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
