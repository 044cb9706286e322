/** Groups entries into turns: what one session did in one run of work. */

import type { ChangeEvent, ReadEntry, RefusalEntry } from '../payloads';
import type { Entry } from '../feed/tokens';

import { pathsOf } from '../feed/entries';
import { isStepBack } from './commandText';

/** Seconds without an entry after which a session's next entry begins another turn. */
const PAUSE = 300;

/** A refusal in a list; `repaired` if a later call of the session did what was refused. */
export type ListedRefusal = RefusalEntry & { repaired: boolean };

/** Entries of one session in one run of work, newest first. */
export interface ITurn {
  kind: 'turn';
  /** Stays the same while the session goes on. */
  id: string;
  session: string;
  /** The user who owns the session. */
  user: string;
  /** The person who made the changes, e.g. by an undo; null for the changes of an assistant. */
  person: string | null;
  /** Time of its newest entry, in seconds since 1970. */
  at: number;
  changes: ChangeEvent[];
  reads: ReadEntry[];
  refusals: ListedRefusal[];
}

/** One row of the list: a turn, or an entry below it. */
export type Row = ITurn | ChangeEvent | ReadEntry | ListedRefusal;

/**
 * Group entries by session, and by pauses of five minutes.
 *
 * @param entries - newest first.
 */
export function turnsOf(entries: readonly Entry[]): ITurn[] {
  const open = new Map<string, Entry[]>();
  const groups: Entry[][] = [];
  for (const entry of entries) {
    const name = JSON.stringify([entry.user, entry.session, personOf(entry)]);
    const group = open.get(name);
    if (group && group[group.length - 1].at - entry.at <= PAUSE) {
      group.push(entry);
    } else {
      const begun = [entry];
      open.set(name, begun);
      groups.push(begun);
    }
  }
  return groups.map(turnOf);
}

/** The rows to list: each turn, then its changes; its reads and refusals where it is unfolded. */
export function rowsOf(turns: readonly ITurn[], isUnfolded: (turn: ITurn) => boolean): Row[] {
  return turns.flatMap(turn => {
    const { changes, reads, refusals } = turn;
    const folded = isUnfolded(turn) ? [...reads, ...refusals] : [];
    return [turn, ...[...changes, ...folded].sort((one, other) => other.at - one.at)];
  });
}

/** Counts of a turn's changes that are in effect or wait; undo steps are not counted. */
export function countsOf({ changes }: ITurn): { files: number; commands: number; added: number; removed: number } {
  const standing = changes.filter(
    change => !isStepBack(change) && change.status !== 'undone' && change.status !== 'rejected'
  );
  const ofFiles = standing.filter(({ op }) => op !== 'execute');
  return {
    files: new Set(ofFiles.flatMap(pathsOf)).size,
    commands: standing.length - ofFiles.length,
    added: ofFiles.reduce((sum, { added }) => sum + added, 0),
    removed: ofFiles.reduce((sum, { removed }) => sum + removed, 0)
  };
}

/** The person who made an undo step, who also decided it; null for an assistant's undo and all other entries. */
function personOf(entry: Entry): string | null {
  return entry.kind === 'change' && isStepBack(entry) ? entry.decided_by : null;
}

function turnOf(entries: Entry[]): ITurn {
  const [newest] = entries;
  const changes = entries.filter(entry => entry.kind === 'change');
  const reads = entries.filter(entry => entry.kind === 'read');
  const oldest = changes[changes.length - 1] ?? entries[entries.length - 1];
  return {
    kind: 'turn',
    id: `turn ${oldest.id}`,
    session: newest.session,
    user: newest.user,
    person: personOf(newest),
    at: newest.at,
    changes,
    reads,
    refusals: entries
      .filter(entry => entry.kind === 'refusal')
      .map(refusal => ({ ...refusal, repaired: isRepaired(refusal, changes, reads) }))
  };
}

/** Whether a later change of its file repaired a refused call; for a refused read, also a later read. */
function isRepaired(refusal: RefusalEntry, changes: readonly ChangeEvent[], reads: readonly ReadEntry[]): boolean {
  const { path, at, tool } = refusal;
  const later = [...changes, ...(tool.startsWith('read') ? reads : [])].filter(entry => entry.at > at);
  return path !== null && later.some(entry => pathsOf(entry).includes(path));
}
