/** Asks the server whether a proposal still fits, where the page cannot tell. */

import type { IDisposable } from '@lumino/disposable';

import type { ToolsServer } from '../feed/requests';
import type { ChangedSince } from '../payloads';

import { Soon } from '../feed/soon';

const ASK_AT_MOST_EVERY = 700;
/** How often a server is asked again, whatever it answers: it may not have heard yet of what the page has. */
const ASKED_AGAIN = 2;

/** Keeps the server's answers on proposals near which the person types: it checks more than their diffs show. */
export class Doubts implements IDisposable {
  /**
   * @param answered - called after new answers.
   */
  constructor(
    private _server: Pick<ToolsServer, 'standing'>,
    private _answered: () => void
  ) {
    this._ask = new Soon(() => this._settle(), ASK_AT_MOST_EVERY);
  }

  get isDisposed(): boolean {
    return this._ask.isDisposed;
  }

  dispose(): void {
    this._ask.dispose();
  }

  /** Ask about proposals by id, unless already answered; each value is the state that its answer depends on. */
  follow(doubts: ReadonlyMap<string, string>): void {
    this._doubts = doubts;
    this._answers = new Map([...this._answers].filter(([id]) => doubts.has(id)));
    if (this._open.length) {
      this._ask.ask();
    }
  }

  /** The files that a proposal does not fit, by the server's last answer. */
  staleFiles(id: string): readonly string[] {
    return (this._answers.get(id)?.stale ?? []).map(({ path }) => path);
  }

  /** Whether by that answer a file is gone, or cannot be compared: then no part of any proposal fits it. */
  hasLost(id: string, file: string): boolean {
    return this._answers.get(id)?.stale.some(({ path, diff }) => path === file && !diff) ?? false;
  }

  private get _open(): [id: string, about: string][] {
    return [...this._doubts].filter(([id, about]) => {
      const known = this._answers.get(id);
      return known?.about !== about || known.left > 0;
    });
  }

  private async _settle(): Promise<void> {
    for (const [id, about] of this._open) {
      const { changed_since } = await this._server.standing(id);
      const known = this._answers.get(id);
      const left = known?.about === about ? known.left - 1 : ASKED_AGAIN;
      if (this._doubts.has(id)) {
        this._answers.set(id, { about, stale: changed_since, left });
      }
    }
    this._answered();
  }

  private _ask: Soon;
  private _doubts: ReadonlyMap<string, string> = new Map();
  private _answers = new Map<string, { about: string; stale: readonly ChangedSince[]; left: number }>();
}
