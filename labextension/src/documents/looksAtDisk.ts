/** Delays JupyterLab's checks of a file on disk while the server writes it; avoids repeated ones. */

import type { Contents } from '@jupyterlab/services';

import { PromiseDelegate } from '@lumino/coreutils';

import { untilIdle } from './untilIdle';

/**
 * Before it saves, JupyterLab asks the server whether the file is unchanged, and asks the person if it is not.
 * That check waits while a document already shows a change that its file does not have yet.
 */
export class LooksAtDisk {
  constructor(contents: Contents.IManager) {
    const get = contents.get.bind(contents);
    this.get = get;
    contents.get = async (path, options) => {
      await this._held.get(path)?.promise;
      if (options?.content === false) {
        const looked = this._looked.get(path);
        this._looked.delete(path);
        return looked ?? get(path, options);
      }
      return this._read.get(path) ?? this._note(path, get(path, options));
    };
  }

  /** Look at the disk at once, even while a file is held. */
  readonly get: Contents.IManager['get'];

  /** Let looks at a file wait until the returned function is called. */
  hold(path: string): () => void {
    const held = new PromiseDelegate<void>();
    this._held.set(path, held);
    return () => {
      if (this._held.get(path) === held) {
        this._held.delete(path);
      }
      held.resolve();
    };
  }

  /** Load a file from the content already read: what the person types during a second read would be lost. */
  async load(path: string, file: Contents.IModel, load: () => Promise<void>): Promise<void> {
    this._read.set(path, file);
    await load().finally(() => this._read.delete(path));
  }

  /** Save a file that was just looked at, without a second look: a save that waits for it cannot be called off. */
  async save(path: string, file: Contents.IModel, save: () => Promise<void>): Promise<void> {
    this._looked.set(path, file);
    await save().finally(() => this._looked.delete(path));
  }

  /** Whether a file is being loaded: a change that a document shows meanwhile would be replaced by what was read. */
  isLoading(path: string): boolean {
    return this._loading.has(path);
  }

  /** Wait until a file is not being loaded; refuse after a while. */
  loaded(path: string): Promise<void> {
    return untilIdle(
      () => this.isLoading(path),
      async () => this._loading.get(path)
    );
  }

  private _note(path: string, read: Promise<Contents.IModel>): Promise<Contents.IModel> {
    const noted = Promise.allSettled([this._loading.get(path), read])
      // A document takes over what was read before the next task.
      .then(() => new Promise<void>(resolve => window.setTimeout(resolve)))
      .then(() => {
        if (this._loading.get(path) === noted) {
          this._loading.delete(path);
        }
      });
    this._loading.set(path, noted);
    return read;
  }

  private _loading = new Map<string, Promise<void>>();
  private _looked = new Map<string, Contents.IModel>();
  private _read = new Map<string, Contents.IModel>();
  private _held = new Map<string, PromiseDelegate<void>>();
}
