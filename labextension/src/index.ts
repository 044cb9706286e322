/** The plugins of the extension. */

import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { feedPlugin } from './feed/feedPlugin';
import { openDocumentsPlugin } from './documents/openDocumentsPlugin';
import { panelPlugin } from './panel/panelPlugin';
import { reviewPlugin } from './review/reviewPlugin';

// Each of them provides what its own type says.
const plugins: JupyterFrontEndPlugin<any>[] = [feedPlugin, openDocumentsPlugin, panelPlugin, reviewPlugin]; // eslint-disable-line @typescript-eslint/no-explicit-any

export default plugins;
