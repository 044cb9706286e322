/** Lets a document's saves follow one another, each once the server has heard of it. */

import type { DocumentRegistry } from '@jupyterlab/docregistry';

import { Refused } from './patches';

const SAVE_WITHIN = 2000;

export class Saves {
  /**
   * @param changed - told when a save begins or has ended.
   * @param heard - resolves once the server has heard what is told by now.
   */
  constructor(
    context: DocumentRegistry.Context,
    private _changed: () => void,
    private _heard: () => Promise<void>
  ) {
    this.now = context.save.bind(context);
    context.save = () => this.note(this._saveAlone([...this._underWay, ...this._held]));
  }

  /** JupyterLab's own way. */
  readonly now: () => Promise<void>;

  get areUnderWay(): boolean {
    return this._underWay.size > 0;
  }

  /** Resolves once those have ended that are under way by now. */
  async ended(): Promise<void> {
    await Promise.all(this._underWay);
  }

  /** Wait until no save is under way: it would write what was there before. One that asks its person may take long. */
  async none(): Promise<void> {
    const late = new Promise<boolean>(resolve => window.setTimeout(() => resolve(true), SAVE_WITHIN));
    while (this.areUnderWay) {
      if ((await Promise.race([this.ended(), late])) === true) {
        throw new Refused('busy');
      }
    }
  }

  /** Let saves that begin wait until the function that is given is called: they write what is there by then. */
  hold(): () => void {
    let end = (): void => undefined;
    const held = new Promise<void>(resolve => (end = resolve));
    this._held.add(held);
    return () => {
      this._held.delete(held);
      end();
    };
  }

  /**
   * Take a save for under way until it has ended.
   *
   * Not by its signal: what its person calls off is told by the promise alone, and one save may overtake another.
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
   * JupyterLab looks whether the file has changed, and then writes it: what a tool writes in between would be lost. So
   * the server first hears of it, as of an unsaved document. Nor does a save find the file changed by an earlier one.
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
