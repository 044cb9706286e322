/** Lists the changes that a person is to see in one file. */

import type { ToolsServer } from '../feed/requests';
import type { Change } from '../payloads';

import { isUnseen } from './unseenChanges';

/** How many are shown of each kind; behind those that a person decides about come the next ones. */
const MOST_SHOWN = 50;

/** The changes of a file, each as far as it is of this file. */
export interface IFileChanges {
  /** Those that wait, oldest first. */
  waiting: Change[];
  /** Those that were made and that the person has not seen, oldest first. */
  made: Change[];
  /** The id of the newest one that was made; empty where there is none. */
  newest: string;
}

/** Ask the server for them. */
export async function changesToSee(server: ToolsServer, path: string, user: string): Promise<IFileChanges> {
  const [proposed, applied] = await Promise.all([
    server.changesOf(path, 'proposed', MOST_SHOWN),
    server.changesOf(path, 'applied', MOST_SHOWN)
  ]);
  // Nobody is to approve here what they are not shown.
  const waiting = await Promise.all(unseenOf(proposed.changes, user).map(change => server.whole(change)));
  const made = unseenOf(applied.changes, user);
  if (applied.changes.length < applied.total && made.length < MOST_SHOWN) {
    const listed = new Set(applied.changes.map(({ id }) => id));
    const older = unseenOf(await server.made({ path }), user).filter(({ id }) => !listed.has(id));
    made.push(...(await Promise.all(older.slice(0, MOST_SHOWN - made.length).map(({ id }) => server.change(id)))));
  }
  const ofThis = (changes: Change[]) => changes.flatMap(change => inFile(change, path)).reverse();
  const newest = applied.changes.find(change => change.undoes === null)?.id ?? '';
  return { waiting: ofThis(waiting), made: ofThis(made), newest };
}

function unseenOf(changes: readonly Change[], user: string): Change[] {
  return changes.filter(change => isUnseen(change, user));
}

/** A change as far as it is of one file. */
function inFile(change: Change, path: string): Change[] {
  const file = change.files.find(one => one.path === path);
  return file ? [{ ...change, path, diff: file.diff }] : change.path === path ? [change] : [];
}
