/** Waits for saves and loads, which may ask the person, but not for long. */

import { Refused } from './located';

/** Longest wait, in milliseconds. */
const IDLE_WITHIN = 2000;

/**
 * Wait until nothing is under way; refuse after a while.
 *
 * @param ended - resolves once all that is under way now has ended.
 */
export async function untilIdle(isBusy: () => boolean, ended: () => Promise<unknown>): Promise<void> {
  const late = new Promise<'late'>(resolve => window.setTimeout(() => resolve('late'), IDLE_WITHIN));
  while (isBusy()) {
    if ((await Promise.race([ended(), late])) === 'late') {
      throw new Refused('busy');
    }
  }
}
