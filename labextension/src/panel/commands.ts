/** The commands: in the palette, and in the file browser's menu. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { IFileBrowserFactory } from '@jupyterlab/filebrowser';
import type { TranslationBundle } from '@jupyterlab/translation';

import { Notification } from '@jupyterlab/apputils';

import type { Decision, ToolsServer } from '../feed/requests';
import type { IActivityFeed } from '../feed/tokens';
import type { Words } from './words';

import { isOffered } from './decideEverything';

export namespace CommandIDs {
  export const showPanel = 'jupyter-fstools:show-panel';
  export const showHistory = 'jupyter-fstools:show-history';
  export const undoLast = 'jupyter-fstools:undo-last';
  export const approveAll = 'jupyter-fstools:approve-all';
  export const rejectAll = 'jupyter-fstools:reject-all';
}

/** Milliseconds; without a time it would stand in the list of notifications alone. */
const SHOWN_FOR = 5000;

/** None of the commands takes arguments. */
const describedBy = { args: { type: 'object', properties: {} } };

/** What the commands work with. */
export interface ICommandParts {
  app: JupyterFrontEnd;
  feed: IActivityFeed;
  server: ToolsServer;
  browser: IFileBrowserFactory | null;
  /** The tools' path of a file in the file browser; null for what they do not reach. */
  toolsPath(path: string): string | null;
  showPanel(): void;
  decideEverything(decision: Decision): Promise<void>;
  words: Words;
  trans: TranslationBundle;
}

/** Add the commands, and list them in the palette. */
export function addCommands(parts: ICommandParts, palette: ICommandPalette | null): void {
  const { app, feed, showPanel, decideEverything, trans } = parts;
  const { commands } = app;

  commands.addCommand(CommandIDs.showPanel, {
    describedBy,
    label: trans.__('Show What Assistants Did'),
    execute: showPanel
  });
  commands.addCommand(CommandIDs.showHistory, {
    describedBy,
    label: trans.__('Show What Assistants Did Here'),
    caption: trans.__('What assistants did to the selected file or folder'),
    isEnabled: () => chosenPath(parts) !== null,
    execute: () => {
      const path = chosenPath(parts);
      if (path !== null) {
        feed.filter = { kinds: feed.filter.kinds, path };
        showPanel();
      }
    }
  });
  commands.addCommand(CommandIDs.undoLast, {
    describedBy,
    label: trans.__('Undo the Last Change by an Assistant'),
    caption: trans.__('Take back what an assistant last did to the selected file'),
    isEnabled: () => chosenPath(parts) !== null,
    execute: () => undoLast(parts)
  });
  commands.addCommand(CommandIDs.approveAll, {
    describedBy,
    label: trans.__('Approve All That Waits…'),
    isEnabled: () => isOffered(feed),
    execute: () => decideEverything('approve')
  });
  commands.addCommand(CommandIDs.rejectAll, {
    describedBy,
    label: trans.__('Reject All That Waits…'),
    isEnabled: () => isOffered(feed),
    execute: () => decideEverything('reject')
  });
  feed.changed.connect(() => {
    commands.notifyCommandChanged(CommandIDs.approveAll);
    commands.notifyCommandChanged(CommandIDs.rejectAll);
  });
  for (const command of Object.values(CommandIDs)) {
    palette?.addItem({ command, category: trans.__('File Tools') });
  }
}

/** The selected file of the file browser, as the tools call it. */
function chosenPath({ browser, toolsPath }: ICommandParts): string | null {
  const chosen = browser?.tracker.currentWidget?.selectedItems().next();
  return chosen && !chosen.done ? toolsPath(chosen.value.path) : null;
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
