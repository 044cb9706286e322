/** Limits how many tasks run at the same time. */

/** Runs at most `_most` tasks at a time; the others wait, in order. */
export class ConcurrencyLimit {
  constructor(private _most: number) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this._running < this._most) {
      this._running++;
    } else {
      await new Promise<void>(begin => this._waiting.push(begin));
    }
    try {
      return await task();
    } finally {
      const begin = this._waiting.shift();
      if (begin) {
        begin();
      } else {
        this._running--;
      }
    }
  }

  private _running = 0;
  private _waiting: (() => void)[] = [];
}
