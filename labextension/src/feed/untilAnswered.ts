/** Asks again while a server does not answer. */

import { RequestError } from './requests';

const ASK_AGAIN_AFTER = 5000;
const MAY_PASS = ['unreachable', 'io', 'timeout'];

/**
 * The first answer: when a page loads, its server may still be starting, or be out of reach.
 *
 * Throws the refusal of a server that will not answer otherwise later.
 */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RequestError && MAY_PASS.includes(error.refusal.code))) {
        throw error;
      }
      await new Promise(resolve => setTimeout(resolve, ASK_AGAIN_AFTER));
    }
  }
}
