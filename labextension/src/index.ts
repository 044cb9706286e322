/** Lists the plugins of the extension, and exports the token that other extensions may ask for. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { comparisonPlugin } from './diff/comparisonPlugin';
import { feedPlugin } from './feed/feedPlugin';
import { openDocumentsPlugin } from './documents/openDocumentsPlugin';
import { panelPlugin } from './panel/panelPlugin';
import { fileMarksPlugin } from './review/fileMarksPlugin';
import { reviewPlugin, unseenPlugin } from './review/reviewPlugin';

// JupyterLab shares this module by the package's name: another extension gets the same token from it.
export { IActivityFeed } from './feed/tokens';
export type { Entry, IActivityFilter } from './feed/tokens';

// The plugins provide services of different types.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
const plugins: JupyterFrontEndPlugin<any>[] = [
  feedPlugin,
  openDocumentsPlugin,
  panelPlugin,
  comparisonPlugin,
  unseenPlugin,
  reviewPlugin,
  fileMarksPlugin
];

export default plugins;
