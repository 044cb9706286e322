/** Runs only so many tasks at once. */

/** Lets tasks wait for one another, and begins them in their order. */
export class AtMost {
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
