/** Names the parts of JupyterLab that a diff is shown with. */

import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';

/** Parts of JupyterLab that every view of a diff needs. */
export interface IDiffParts {
  rendermime: IRenderMimeRegistry;
  languages: IEditorLanguageRegistry;
  trans: TranslationBundle;
}
