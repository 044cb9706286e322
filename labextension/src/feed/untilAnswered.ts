/** Asks again while a server does not answer. */

const ASK_AGAIN_AFTER = 5000;

/** The first answer: when a page loads, its server may still be starting, or be out of reach. */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise(resolve => setTimeout(resolve, ASK_AGAIN_AFTER));
    }
  }
}
