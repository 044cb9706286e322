/** Creates entries of the list from changes; merges and filters them. */

import { PathExt } from '@jupyterlab/coreutils';

import type { Change, ChangeEvent } from '../payloads';
import type { Entry, IActivityFilter } from './tokens';

import { filesOf, isCut } from './changedFiles';

/** Lists entries newest first, one for each id; for a change, the step with the highest revision. */
export function merged(known: readonly Entry[], news: readonly Entry[]): Entry[] {
  const byId = new Map(known.map(entry => [entry.id, entry]));
  for (const entry of news) {
    const earlier = byId.get(entry.id);
    const isOlder = earlier?.kind === 'change' && entry.kind === 'change' && earlier.revision > entry.revision;
    if (!isOlder) {
      byId.set(entry.id, entry);
    }
  }
  return latestReads([...byId.values()].sort((one, other) => other.at - one.at));
}

/** Keeps only the latest of a session's reads of one file: it tells what all of them have shown. */
function latestReads(entries: Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter(entry => {
    if (entry.kind !== 'read') {
      return true;
    }
    const read = JSON.stringify([entry.user, entry.session, entry.path]);
    const isLatest = !seen.has(read);
    seen.add(read);
    return isLatest;
  });
}

/** Whether a filter asks for an entry; `path` is a file or a folder, and only a change has a status. */
export function isWanted(entry: Entry, filter: IActivityFilter): boolean {
  const { kinds, session, status } = filter;
  const path = PathExt.relative('', filter.path ?? ''); // as the server takes it: src/ is src
  const match = filter.match?.toLowerCase() ?? '';
  return (
    (status === undefined ? kinds.includes(entry.kind) : entry.kind === 'change' && entry.status === status) &&
    (session === undefined || entry.session === session) &&
    (path === '' || pathsOf(entry).some(one => one === path || one.startsWith(`${path}/`))) &&
    (match === '' || pathsOf(entry).some(one => one.toLowerCase().includes(match)))
  );
}

/**
 * Whether an entry tells of a new step of a change: only then may views of its files be out of date.
 * An entry of an outdated change counts each time, because its file was written again.
 */
export function isStep(entry: Entry, known?: Entry): boolean {
  const isKnown = (change: ChangeEvent) =>
    known?.kind === 'change' && known.revision === change.revision && !known.stale && !change.stale;
  return entry.kind === 'change' && !isKnown(entry);
}

/** The files that an entry is about. */
export function pathsOf(entry: Entry): string[] {
  const several = entry.kind === 'change' ? entry.paths : [];
  return several.length || entry.path === null ? several : [entry.path];
}

/** Converts a change of the journal to an entry of the list. */
export function entryOf(change: Change): ChangeEvent {
  const { created_at, before, after, diff, decided, files, interrupted, ran, ...said } = change;
  const all = filesOf(change);
  const added = all.reduce((sum, file) => sum + file.diff.added, 0);
  const removed = all.reduce((sum, file) => sum + file.diff.removed, 0);
  const counts = { added, removed, truncated: isCut(change) };
  const paths = files.map(file => file.path);
  const facts = { exit_code: ran?.exit_code ?? null, stale: false, redo: false, paths };
  return { ...said, ...counts, ...facts, kind: 'change', at: created_at, op: diff.op };
}

/** Whether a filter limits more than the kinds of entries. */
export function isNarrow({ session, path, match, status }: IActivityFilter): boolean {
  return [session, path, match, status].some(part => part !== undefined);
}
