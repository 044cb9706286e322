/** Applies the tools' changes to open documents; keeps what a person typed. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { IDocumentManager, IDocumentWidgetOpener } from '@jupyterlab/docmanager';

import { type INotebook, watchPlace } from './carets';
import { DocumentsLink } from './documentsLink';
import { LooksAtDisk } from './looksAtDisk';
import { OpenDocuments } from './openDocuments';

export const openDocumentsPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-fstools:open-documents',
  description: 'Tells the server which documents are open, and lets the changes of its tools arrive in them.',
  autoStart: true,
  requires: [IDocumentManager, IDocumentWidgetOpener],
  activate: (app: JupyterFrontEnd, manager: IDocumentManager, opener: IDocumentWidgetOpener): void => {
    const { contents, serverSettings } = app.serviceManager;
    const lab = { looks: new LooksAtDisk(contents), closeFile: (path: string) => manager.closeFile(path) };
    const documents = new OpenDocuments(contents, lab);
    new DocumentsLink(documents, serverSettings);
    // The opener also opens the documents that are restored from the last session.
    opener.opened.connect((_, widget) => {
      const context = manager.contextForWidget(widget);
      if (context) {
        documents.watch(context);
      }
      if (context && 'activeCellIndex' in widget.content) {
        watchPlace(widget.content as unknown as INotebook, context.model.sharedModel);
      }
    });
    const look = () => {
      const widget = app.shell.currentWidget;
      const context = widget && manager.contextForWidget(widget);
      if (context) {
        documents.follow(context);
      }
    };
    app.shell.currentChanged?.connect(look);
    window.addEventListener('focus', look);
  }
};
