/** Carries out what a person decides about a document's changes. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Words } from '../panel/words';
import type { Change } from '../payloads';
import type { HunkDecision } from './hunkControls';
import type { IReviewView } from './reviewView';

import { RequestError, type ToolsServer } from '../feed/requests';
import { asHunks, Decisions, type Hunks, hunksOf, type IDecisionDetail, isDivisible } from './decisions';

/** How often an edited proposal is made again from a text in which the person goes on typing. */
const MOST_TRIES = 10;

/** What a decider works with. */
export interface IDeciderParts {
  server: ToolsServer;
  /** What is decided of waiting changes so far, by their ids, in whichever view of a document. */
  decisions: Map<string, Decisions>;
  words: Words;
  trans: TranslationBundle;
}

/** Asks the server; what it refuses is told in `problem`. */
export class Decider {
  /**
   * @param view - what shows the document, once there is something to show.
   */
  constructor(
    private _parts: IDeciderParts,
    private _view: () => IReviewView | null
  ) {}

  /** Why the last decision was not carried out; empty while all is well. */
  problem = '';

  /** What was decided of a hunk so far; undefined for nothing. */
  taken(change: Change, name: string): boolean | undefined {
    return this._parts.decisions.get(change.id)?.of(name);
  }

  /** What the person wrote in the place of a hunk. */
  text(change: Change, name: string): string | undefined {
    return this._parts.decisions.get(change.id)?.texts.get(name);
  }

  /** Decide about hunks; a proposal is decided about on the server once all of its hunks are. */
  async decide(
    change: Change,
    names: readonly string[],
    decision: HunkDecision,
    detail: IDecisionDetail
  ): Promise<void> {
    const { server } = this._parts;
    const hunks = isDivisible(change) ? { hunks: asHunks(change, names) } : {};
    this.problem = '';
    if (decision === 'keep') {
      await this._try(() => server.decide(change.id, decision, hunks));
    } else if (decision === 'undo') {
      await this._try(async () => {
        if (!(await this._isDone(server.decide(change.id, 'undo', hunks)))) {
          await this._putBack(change, names);
        }
      });
    } else {
      const decisions = this._decisionsOf(change);
      const decided = isDivisible(change) ? names : hunksOf(change);
      if (decisions.decide(decided, decision === 'approve', detail)) {
        await this._try(() => this._carryOut(decisions));
      }
    }
  }

  /** Decide about whole changes: the newest first, where they are taken back. What was rejected is not approved. */
  async decideAll(changes: readonly Change[], decision: HunkDecision): Promise<void> {
    const order = decision === 'undo' ? -1 : 1;
    this.problem = '';
    for (const change of [...changes].sort((one, other) => order * (one.created_at - other.created_at))) {
      await this._try(() => this._decideWhole(change, decision));
    }
  }

  private _decideWhole(change: Change, decision: HunkDecision): Promise<unknown> {
    if (change.status !== 'proposed') {
      return this._parts.server.decide(change.id, decision);
    }
    // Not in those themselves: a refusal leaves what was decided as it was.
    const decisions = this._decisionsOf(change).copy();
    const names = hunksOf(change);
    const open = decision === 'approve' ? names.filter(name => decisions.of(name) === undefined) : names;
    decisions.decide(open, decision === 'approve');
    return this._carryOut(decisions);
  }

  /** False where a later change covers this one, or the person's typing does. */
  private async _isDone(undo: Promise<Change>): Promise<boolean> {
    try {
      await undo;
      return true;
    } catch (error) {
      if (isStale(error)) {
        return false;
      }
      throw error;
    }
  }

  /** The server cannot tell these parts from others: the person takes them back by an edit of their own. */
  private async _putBack(change: Change, names: readonly string[]): Promise<void> {
    if (!this._view()?.putBack(change, names)) {
      throw new Error(this._parts.trans.__('The text has changed since; nothing was undone.'));
    }
    await this._parts.server.decide(change.id, 'keep', isDivisible(change) ? { hunks: asHunks(change, names) } : {});
  }

  private _decisionsOf(change: Change): Decisions {
    const { decisions } = this._parts;
    const found = decisions.get(change.id) ?? new Decisions(change);
    decisions.set(change.id, found);
    return found;
  }

  /** What was decided is forgotten once the server has it. */
  private async _carryOut(decisions: Decisions): Promise<void> {
    await this._send(decisions);
    this._parts.decisions.delete(decisions.change.id);
  }

  private _send({ change, taken, texts, reason }: Decisions): Promise<unknown> {
    const { server } = this._parts;
    if (!taken.length) {
      return server.decide(change.id, 'reject', { reason });
    }
    const hunks = taken.length < hunksOf(change).length ? asHunks(change, taken) : undefined;
    if (!texts.size) {
      return server.decide(change.id, 'approve', { hunks, reason });
    }
    const chosen = new Map(taken.map(name => [name, texts.get(name) ?? null]));
    return this._write(change, chosen, { hunks, reason });
  }

  /** What the person types while it is on its way makes it stale: it is made again from what is there then. */
  private async _write(
    change: Change,
    chosen: ReadonlyMap<string, string | null>,
    detail: { hunks?: Hunks; reason?: string }
  ): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      const written = this._view()?.written(change, chosen);
      if (!written) {
        throw new Error(this._parts.trans.__('The text has changed since; nothing was written.'));
      }
      try {
        return await this._parts.server.decide(change.id, 'approve', { ...written, ...detail });
      } catch (error) {
        if (!isStale(error) || tries >= MOST_TRIES) {
          throw error;
        }
      }
    }
  }

  private async _try(ask: () => Promise<unknown>): Promise<void> {
    try {
      await ask();
    } catch (error) {
      const { words, trans } = this._parts;
      const isDecided = error instanceof RequestError && error.refusal.details.status !== undefined;
      this.problem = isDecided ? trans.__('It was decided elsewhere in the meantime.') : words.problem(error);
    }
  }
}

function isStale(error: unknown): boolean {
  return error instanceof RequestError && error.refusal.code === 'stale';
}
