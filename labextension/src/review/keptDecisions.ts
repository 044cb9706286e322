/** Keeps what a person decided hunk by hunk, also over a reload of the page. */

import type { Change } from '../payloads';

import { Decisions, type IDecided } from './decisions';

const KEY = 'jupyter-fstools:decisions';

interface IKept {
  /** The lines of the hunks that were decided about. */
  hunks: string;
  decided: IDecided[];
}

/** Decisions so far about waiting changes; all views of a document share them. */
export class KeptDecisions {
  /**
   * @param _storage - of this tab of the browser; another tab decides for itself.
   */
  constructor(private _storage: Pick<Storage, 'getItem' | 'setItem'> = window.sessionStorage) {
    try {
      this._kept = new Map(JSON.parse(_storage.getItem(KEY) ?? '[]') as [string, IKept][]);
    } catch {
      this._kept = new Map();
    }
  }

  /** The decisions about a change; undefined if there are none. */
  of(change: Change): Decisions | undefined {
    const kept = this._kept.get(change.id);
    // The hunks of a long diff may be others by now, and each is named by its position.
    if (kept && !this._known.has(change.id) && kept.hunks === extentsOf(change)) {
      this._known.set(change.id, Decisions.from(change, kept.decided));
    }
    return this._known.get(change.id);
  }

  /** Whether there are decisions about a change, by its id. */
  has(id: string): boolean {
    return this._kept.has(id);
  }

  keep(decisions: Decisions): void {
    this._known.set(decisions.change.id, decisions);
    this._kept.set(decisions.change.id, { hunks: extentsOf(decisions.change), decided: decisions.told });
    this._save();
  }

  /** Forget the decisions about a change that was decided as a whole. */
  forget(id: string): void {
    this._known.delete(id);
    this._kept.delete(id);
    this._save();
  }

  private _save(): void {
    try {
      this._storage.setItem(KEY, JSON.stringify([...this._kept]));
    } catch {
      // Full or forbidden storage: the decisions last as long as the page.
    }
  }

  private _known = new Map<string, Decisions>();
  private _kept: Map<string, IKept>;
}

/** The lines of each hunk of a change. */
function extentsOf({ diff }: Change): string {
  const hunks = [...diff.hunks, ...(diff.cells ?? []).flatMap(cell => cell.hunks)];
  return JSON.stringify(hunks.map(hunk => [hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count]));
}
