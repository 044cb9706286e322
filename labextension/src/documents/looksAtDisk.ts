/** Delays JupyterLab's looks at a file on disk while the server writes it; spares it those that were had. */

import type { Contents } from '@jupyterlab/services';

/**
 * Before it saves, JupyterLab asks the server whether the file is still what it was, and else asks its person.
 * Between the moment in which a document shows a change and the one in which its file has it, that question waits.
 */
export class LooksAtDisk {
  constructor(contents: Contents.IManager) {
    const get = contents.get.bind(contents);
    this.get = get;
    contents.get = async (path, options) => {
      await this._held.get(path)?.ended;
      return (options?.content !== false && this._read.get(path)) || get(path, options);
    };
  }

  /** Look at the disk at once. */
  readonly get: Contents.IManager['get'];

  /** Let looks at a file wait until the function that is given is called. */
  hold(path: string): () => void {
    let end = (): void => undefined;
    const held = { ended: new Promise<void>(resolve => (end = resolve)) };
    this._held.set(path, held);
    return () => {
      if (this._held.get(path) === held) {
        this._held.delete(path);
      }
      end();
    };
  }

  /** Have a file loaded as it was read already: while it is read again, its person might type what would be lost. */
  async load(path: string, file: Contents.IModel, load: () => Promise<void>): Promise<void> {
    this._read.set(path, file);
    await load().finally(() => this._read.delete(path));
  }

  private _read = new Map<string, Contents.IModel>();
  private _held = new Map<string, { ended: Promise<void> }>();
}
