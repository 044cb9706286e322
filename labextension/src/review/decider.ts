/** Carries out what a person decides about a document's changes. */

import type { IServerParts } from '../panel/words';
import type { Change } from '../payloads';
import type { KeptDecisions } from './keptDecisions';
import type { IReviewView } from './reviewView';
import type { UnseenChanges } from './unseenChanges';

import { type Decision, RequestError } from '../feed/requests';
import { asHunks, Decisions, type Hunks, hunksOf, type IDecisionDetail, isDivisible, isKept } from './decisions';

/** Most attempts to write an edited proposal while the person goes on typing in its text. */
const MOST_TRIES = 10;

/** Parts that a decider works with. */
export interface IDeciderParts extends IServerParts {
  decisions: KeptDecisions;
  /** Knows the person's name. */
  unseen: Pick<UnseenChanges, 'user'>;
}

/** Sends decisions to the server; `problem` tells why it refused one. */
export class Decider {
  /**
   * @param view - returns the view that draws the document's changes, once there is one.
   */
  constructor(
    private _parts: IDeciderParts,
    private _view: () => IReviewView | null
  ) {}

  /** Why the last decision failed; empty if it did not. */
  problem = '';

  /** Whether hunks were all approved (true) or all rejected (false) so far; undefined otherwise. */
  taken(change: Change, names: readonly string[]): boolean | undefined {
    const decisions = this._parts.decisions.of(change);
    const found = new Set(names.map(name => decisions?.of(name)));
    return found.size === 1 ? [...found][0] : undefined;
  }

  /** The text that the person wrote in place of a hunk; several hunks have no text in common. */
  text(change: Change, names: readonly string[]): string | undefined {
    return names.length === 1 ? this._parts.decisions.of(change)?.texts.get(names[0]) : undefined;
  }

  /** Decide about hunks; decisions about a proposal are sent to the server once all of its hunks are decided. */
  async decide(change: Change, names: readonly string[], decision: Decision, detail: IDecisionDetail): Promise<void> {
    const { server } = this._parts;
    const hunks = isDivisible(change) ? { hunks: asHunks(change, names) } : {};
    this.problem = '';
    if (decision === 'keep') {
      await this._try(() => server.decide(change.id, decision, hunks));
    } else if (decision === 'undo') {
      await this._try(() => this._undo(change, names, hunks));
    } else {
      const decisions = this._decisionsOf(change);
      const decided = isDivisible(change) ? names : hunksOf(change);
      const isWhole = decisions.decide(decided, decision === 'approve', detail);
      this._parts.decisions.keep(decisions);
      if (isWhole) {
        await this._try(() => this._carryOut(decisions));
      }
    }
  }

  /** Note a decision about hunks with what a person is writing there, which is carried out with the next one. */
  note(change: Change, names: readonly string[], isTaken: boolean, detail: IDecisionDetail): void {
    const decisions = this._decisionsOf(change);
    decisions.decide(names, isTaken, detail);
    this._parts.decisions.keep(decisions);
  }

  /**
   * Decide about whole changes, newest first to undo them; approving all keeps rejected hunks rejected, and undoing
   * all keeps those that the person keeps.
   *
   * @param others - changes of other files, which no edit of this document can undo.
   */
  async decideAll(changes: readonly Change[], decision: Decision, others: readonly Change[] = []): Promise<void> {
    const order = decision === 'undo' ? -1 : 1;
    this.problem = '';
    for (const change of [...changes, ...others].sort((one, other) => order * (one.created_at - other.created_at))) {
      await this._try(() => {
        if (decision !== 'undo') {
          return this.decideWhole(change, decision);
        }
        return others.includes(change) ? this._undoElsewhere(change) : this._undo(change, ...this._unkept(change));
      });
    }
  }

  /** Undo what the person does not keep of a change in another file, which may be listed as it was before. */
  private async _undoElsewhere({ id }: Change): Promise<void> {
    const { server, unseen } = this._parts;
    const { change } = await server.standing(id);
    if (!change.seen_by.includes(unseen.user)) {
      await server.decide(id, 'undo', this._unkept(change)[1]);
    }
  }

  /** The hunks of a change that the person does not keep; the server is told them where these are not all. */
  private _unkept(change: Change): [names: string[], detail: { hunks?: Hunks }] {
    const all = hunksOf(change);
    const left = all.filter(name => !isKept(change, this._parts.unseen.user, name));
    return [left, left.length < all.length ? { hunks: asHunks(change, left) } : {}];
  }

  /** Decide about a whole change; what was decided about parts of a proposal stays, save that rejecting rejects all. */
  async decideWhole(change: Change, decision: Decision): Promise<Change> {
    if (change.status !== 'proposed') {
      return this._parts.server.decide(change.id, decision);
    }
    // In a copy, so that a refusal by the server leaves the decisions so far unchanged.
    const decisions = this._decisionsOf(change).copy();
    const names = hunksOf(decisions.change);
    // All are rejected only after the server refused that, so the person means something else now.
    const isOfRest = decision === 'approve' && names.some(name => decisions.of(name) !== false);
    const open = isOfRest ? names.filter(name => decisions.of(name) === undefined) : names;
    decisions.decide(open, decision === 'approve');
    return this._carryOut(decisions);
  }

  /** Undo hunks; where a later change or the person's typing is too near to them, by an edit of the person's own. */
  private async _undo(change: Change, names: readonly string[], detail: { hunks?: Hunks }): Promise<void> {
    const { server, trans } = this._parts;
    try {
      await server.decide(change.id, 'undo', detail);
    } catch (error) {
      // Other files of the change would stay as they are.
      if (!isStale(error) || change.files.length > 1) {
        throw error;
      }
      if (!this._view()?.putBack(change, names)) {
        throw new Error(trans.__('The text has changed since; nothing was undone.'));
      }
      await server.decide(change.id, 'keep', isDivisible(change) ? { hunks: asHunks(change, names) } : {});
    }
  }

  private _decisionsOf(change: Change): Decisions {
    return this._parts.decisions.of(change) ?? new Decisions(change);
  }

  /** Send decisions, and forget them once the server has them. */
  private async _carryOut(decisions: Decisions): Promise<Change> {
    const decided = await this._send(decisions);
    this._parts.decisions.forget(decisions.change.id);
    return decided;
  }

  private _send({ change, taken, texts, reason }: Decisions): Promise<Change> {
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

  /** Write an edited proposal; where typing during the request made it stale, make it again from the new text. */
  private async _write(
    change: Change,
    chosen: ReadonlyMap<string, string | null>,
    detail: { hunks?: Hunks; reason?: string }
  ): Promise<Change> {
    const { trans } = this._parts;
    for (let tries = 1; ; tries++) {
      const view = this._view();
      if (!view) {
        throw new Error(
          trans.__('You edited the proposed text in the document: open it to approve. Nothing was written.')
        );
      }
      const written = view.written(change, chosen);
      if (!written) {
        throw new Error(trans.__('The text has changed since; nothing was written.'));
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
