/** Debounces a task: it runs soon after it was asked for, once at a time. */

import type { IDisposable } from '@lumino/disposable';

/** Whoever asks while the task runs has it run again: lumino's Throttler would forget them. */
export class Soon implements IDisposable {
  /**
   * @param delay - milliseconds from asking to the start; the task runs no more often than that.
   */
  constructor(
    private _task: () => Promise<unknown>,
    private _delay: number
  ) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    window.clearTimeout(this._timer);
  }

  ask(): void {
    this._isAsked = true;
    if (!this._isBusy && !this._isDisposed) {
      this._isBusy = true;
      this._timer = window.setTimeout(() => void this._run(), this._delay);
    }
  }

  private async _run(): Promise<void> {
    this._isAsked = false;
    await this._task().catch(reason => console.warn('The file tools could not be asked.', reason));
    this._isBusy = false;
    if (this._isAsked) {
      this.ask();
    }
  }

  private _timer = 0;
  private _isAsked = false;
  private _isBusy = false;
  private _isDisposed = false;
}
