/** Keeps the tools away from what a person has typed and not saved. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { IDocumentManager, IDocumentWidgetOpener } from '@jupyterlab/docmanager';

import { OpenDocuments } from './openDocuments';
import { UnsavedReport } from './unsavedReport';

export const openDocumentsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:open-documents',
  description: 'Tells the server which open documents are not saved, so that no tool writes over them.',
  autoStart: true,
  requires: [IDocumentManager, IDocumentWidgetOpener],
  activate: (app: JupyterFrontEnd, manager: IDocumentManager, opener: IDocumentWidgetOpener): void => {
    const { contents, serverSettings } = app.serviceManager;
    const documents = new OpenDocuments(contents);
    new UnsavedReport(documents, serverSettings);
    // Documents of the last session are opened through it, too.
    opener.opened.connect((_, widget) => {
      const context = manager.contextForWidget(widget);
      if (context) {
        documents.watch(context);
      }
    });
  }
};
