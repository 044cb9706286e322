/** Marks the files with changes not yet seen in the file browser. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { Contents } from '@jupyterlab/services';

import { DirListing, IDefaultFileBrowserRenderer } from '@jupyterlab/filebrowser';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { IUnseenChanges } from './unseenChanges';

/** Draws items as JupyterLab does, with a mark behind the names of files and folders with unseen changes. */
class MarkingRenderer extends DirListing.Renderer {
  constructor(
    private _unseen: IUnseenChanges,
    private _said: string
  ) {
    super();
    _unseen.changed.connect(() => {
      const paths = this._paths;
      this._items = new Map([...this._items].filter(([node]) => node.isConnected));
      this._items.forEach((path, node) => this._mark(node, path, paths));
    });
  }

  override updateItemNode(node: HTMLElement, model: Contents.IModel, ...rest: unknown[]): void {
    (super.updateItemNode as (...all: unknown[]) => void)(node, model, ...rest);
    this._items.set(node, model.path);
    this._mark(node, model.path, this._paths);
  }

  private get _paths(): string[] {
    return this._unseen.paths.flatMap(path => this._unseen.contentsPath(path) ?? []);
  }

  /** Mark a file with unseen changes, and each folder that contains one. */
  private _mark(node: HTMLElement, path: string, paths: readonly string[]): void {
    // While a person renames the item, its name is not in the page.
    const dataset = (this.getNameNode(node) as HTMLElement | null)?.dataset;
    if (!dataset) {
      return;
    }
    if (paths.some(one => one === path || one.startsWith(`${path}/`))) {
      dataset.jpFstoolsUnseen = this._said;
    } else {
      delete dataset.jpFstoolsUnseen;
    }
  }

  private _items = new Map<HTMLElement, string>();
}

// JupyterLab 4.2 has no IDefaultFileBrowserRenderer, so nothing is marked there.
export const fileMarksPlugin: JupyterFrontEndPlugin<DirListing.IRenderer> = {
  id: 'jupyter-fstools:file-marks',
  description: 'Marks files with changes by assistants that the person has not seen yet in the file browser.',
  autoStart: true,
  requires: [IUnseenChanges],
  optional: [ITranslator],
  provides: IDefaultFileBrowserRenderer,
  activate: (_: JupyterFrontEnd, unseen: IUnseenChanges, translator: ITranslator | null): DirListing.IRenderer => {
    const trans = (translator ?? nullTranslator).load('jupyter_fstools');
    return new MarkingRenderer(unseen, trans.__('has changes by an assistant that you have not seen'));
  }
};
