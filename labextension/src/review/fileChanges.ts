/** Lists the changes that a person is to see in one file. */

import type { ToolsServer } from '../feed/requests';
import type { Change } from '../payloads';

import { filesOf } from '../feed/changedFiles';
import { diffInEditor } from './editorLines';
import { isUnseen } from './unseenChanges';

/** Most changes that are shown of each kind; once some are decided, the next ones are shown. */
const MOST_SHOWN = 50;

/** The changes of a file, each reduced to this file. */
export interface IFileChanges {
  /** Waiting changes, oldest first. */
  waiting: Change[];
  /** Applied changes that the person has not seen, oldest first. */
  made: Change[];
  /** The id of the newest applied change that is not an undo; empty if there is none. */
  newest: string;
}

/** Ask the server for the changes of a file. */
export async function changesToSee(server: ToolsServer, path: string, user: string): Promise<IFileChanges> {
  const [proposed, applied] = await Promise.all([
    server.changesOf(path, 'proposed', MOST_SHOWN),
    server.changesOf(path, 'applied', MOST_SHOWN)
  ]);
  // In full, so that a person approves only what is shown.
  const waiting = await Promise.all(unseenOf(proposed.changes, user).map(change => server.whole(change)));
  const made = unseenOf(applied.changes, user);
  if (applied.changes.length < applied.total && made.length < MOST_SHOWN) {
    const listed = new Set(applied.changes.map(({ id }) => id));
    const older = unseenOf(await server.made(path), user).filter(({ id }) => !listed.has(id));
    made.push(...(await Promise.all(older.slice(0, MOST_SHOWN - made.length).map(({ id }) => server.change(id)))));
  }
  const ofThis = (changes: Change[]) => changes.flatMap(change => inFile(change, path)).reverse();
  const newest = applied.changes.find(change => change.undoes === null)?.id ?? '';
  return { waiting: ofThis(waiting), made: ofThis(made), newest };
}

function unseenOf(changes: readonly Change[], user: string): Change[] {
  return changes.filter(change => isUnseen(change, user));
}

/** A change reduced to one file, with the lines of its editor; none if it is not about that file. */
export function inFile(change: Change, path: string): Change[] {
  const files = filesOf(change).filter(file => file.path === path);
  return files.map(({ diff }) => ({ ...change, path, diff: diffInEditor(diff) }));
}
