/** Lets a document's saves follow one another, each once the server has heard of it. */

import type { DocumentRegistry } from '@jupyterlab/docregistry';

import { PromiseDelegate } from '@lumino/coreutils';

import { untilIdle } from './untilIdle';

export class Saves {
  /**
   * @param changed - called when a save begins or has ended.
   * @param heard - resolves once the server has heard the current report.
   */
  constructor(
    context: DocumentRegistry.Context,
    private _changed: () => void,
    private _heard: () => Promise<void>
  ) {
    this.now = context.save.bind(context);
    context.save = () => this.note(this._saveAlone([...this._underWay, ...this._held]));
  }

  /** JupyterLab's own save. */
  readonly now: () => Promise<void>;

  get areUnderWay(): boolean {
    return this._underWay.size > 0;
  }

  /** Resolves once all saves that are under way now have ended. */
  async ended(): Promise<void> {
    await Promise.all(this._underWay);
  }

  /** Wait until no save is under way, as it would write the old text; refuse after a while. */
  none(): Promise<void> {
    return untilIdle(
      () => this.areUnderWay,
      () => this.ended()
    );
  }

  /** Let new saves wait until the returned function is called; they write the content of that time. */
  hold(): () => void {
    const held = new PromiseDelegate<void>();
    this._held.add(held.promise);
    return () => {
      this._held.delete(held.promise);
      held.resolve();
    };
  }

  /**
   * Count a save as under way until it has ended.
   *
   * Not by its signal: only the promise tells that the person cancelled it, and one save may overtake another.
   */
  note(saved: Promise<void>): Promise<void> {
    const noted = saved.finally(() => {
      this._underWay.delete(ended);
      this._changed();
    });
    const ended = noted.catch(() => undefined);
    this._underWay.add(ended);
    return noted;
  }

  /**
   * JupyterLab checks whether the file has changed, and then writes it: a tool's write in between would be lost. So the
   * server is first told that the document is unsaved. Earlier saves end first, else this one finds a changed file.
   */
  private async _saveAlone(earlier: readonly Promise<void>[]): Promise<void> {
    await Promise.all(earlier);
    this._changed();
    await this._heard();
    await this.now();
  }

  private _underWay = new Set<Promise<void>>();
  private _held = new Set<Promise<void>>();
}
