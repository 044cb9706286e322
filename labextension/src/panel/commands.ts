/** Adds the commands to the palette and to the file browser's menu. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';

import { Notification } from '@jupyterlab/apputils';

import type { Entry } from '../feed/tokens';
import type { IUnseenChanges } from '../review/unseenChanges';
import type { IDecisionParts } from './decideEverything';

import { connectAssistant } from './connectDialog';
import { decideAll, fit, waitingIn } from './decideEverything';
import { showTokens } from './tokensDialog';

export namespace CommandIDs {
  export const showPanel = 'jupyter-fstools:show-panel';
  export const showHistory = 'jupyter-fstools:show-history';
  export const undoLast = 'jupyter-fstools:undo-last';
  export const approveAll = 'jupyter-fstools:approve-all';
  export const rejectAll = 'jupyter-fstools:reject-all';
  export const connect = 'jupyter-fstools:connect-assistant';
  export const showTokens = 'jupyter-fstools:show-tokens';
}

/** Milliseconds that a notification is shown; without a time it would only appear in the list of notifications. */
const SHOWN_FOR = 5000;

/** None of the commands takes arguments. */
const describedBy = { args: { type: 'object', properties: {} } };

/** Parts that the commands work with. */
export interface ICommandParts extends IDecisionParts {
  app: JupyterFrontEnd;
  browser: IFileBrowserFactory | null;
  unseen: IUnseenChanges;
  showPanel(): void;
  /** The kinds that are listed unless the person chooses one. */
  kinds(): readonly Entry['kind'][];
}

/** Add the commands, and list them in the palette. */
export function addCommands(parts: ICommandParts, palette: ICommandPalette | null): void {
  const { app, feed, showPanel, trans } = parts;
  const { commands } = app;

  commands.addCommand(CommandIDs.showPanel, {
    describedBy,
    label: trans.__('Show What Assistants Did'),
    execute: showPanel
  });
  commands.addCommand(CommandIDs.showHistory, {
    describedBy,
    label: trans.__('Show Changes by Assistants'),
    caption: trans.__('List what assistants did to the selected file or folder'),
    isEnabled: () => chosenPath(parts) !== null,
    execute: () => {
      const path = chosenPath(parts);
      if (path !== null) {
        feed.filter = { kinds: parts.kinds(), path };
        showPanel();
      }
    }
  });
  commands.addCommand(CommandIDs.undoLast, {
    describedBy,
    label: trans.__('Undo the Last Change by an Assistant'),
    caption: trans.__('Take back what an assistant last did to the selected file'),
    isEnabled: () => {
      const path = chosenPath(parts);
      return path !== null && parts.unseen.mayUndo(path);
    },
    execute: () => undoLast(parts)
  });
  commands.addCommand(CommandIDs.approveAll, {
    describedBy,
    label: trans.__('Approve All Listed Changes by Assistants…'),
    caption: trans.__('Approve the listed changes whose diffs were shown'),
    isEnabled: () => fit('approve', waitingIn(feed), parts).length > 0,
    execute: () => decideAll(parts, 'approve', waitingIn(feed))
  });
  commands.addCommand(CommandIDs.rejectAll, {
    describedBy,
    label: trans.__('Reject All Listed Changes by Assistants…'),
    caption: trans.__('Reject the listed changes that wait for approval'),
    isEnabled: () => waitingIn(feed).length > 0,
    execute: () => decideAll(parts, 'reject', waitingIn(feed))
  });
  commands.addCommand(CommandIDs.connect, {
    describedBy,
    label: trans.__('Connect an Assistant…'),
    caption: trans.__('Make a token for an assistant, and show how to configure its program'),
    execute: () => connectAssistant(parts)
  });
  commands.addCommand(CommandIDs.showTokens, {
    describedBy,
    label: trans.__('Tokens of Assistants…'),
    caption: trans.__('List the tokens made for assistants, and revoke them'),
    execute: () => showTokens(parts)
  });
  feed.changed.connect(() => {
    commands.notifyCommandChanged(CommandIDs.approveAll);
    commands.notifyCommandChanged(CommandIDs.rejectAll);
  });
  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category: trans.__('File Tools') });
  }
}

/** The tools' path of the selected file in the file browser; null for none. */
function chosenPath({ browser, unseen }: ICommandParts): string | null {
  const chosen = browser?.tracker.currentWidget?.selectedItems().next();
  return chosen && !chosen.done ? unseen.toolsPath(chosen.value.path) : null;
}

async function undoLast(parts: ICommandParts): Promise<void> {
  const { feed, server, words, trans } = parts;
  const path = chosenPath(parts);
  if (path === null) {
    return;
  }
  try {
    feed.note(await server.undoLast(path));
    Notification.success(trans.__('The last change of %1 was taken back.', path), { autoClose: SHOWN_FOR });
  } catch (error) {
    Notification.error(words.problem(error), { autoClose: false });
  }
}
