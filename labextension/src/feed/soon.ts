/** Debounces a task: it runs soon after it was asked for, once at a time. */

import type { IDisposable } from '@lumino/disposable';

/** A request during a run makes the task run again afterwards; lumino's Throttler would drop that request. */
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

/** Milliseconds between two checks of a proposal while its files are written or the person types in them. */
const LOOK_EVERY = 700;
/** Most checks while the server does not confirm that a proposal is stale on this page: it may judge otherwise. */
const MOST_LOOKS = 10;

/** Checks the status of a proposal soon after its files are written. */
export class StandingLook {
  constructor(look: () => Promise<unknown>) {
    this._look = new Soon(look, LOOK_EVERY);
  }

  /** Check soon, after something was written or typed. */
  ask(): void {
    this._left = MOST_LOOKS;
    this._look.ask();
  }

  /** Check again, as the server does not know yet what was typed in this page. */
  askAgain(): void {
    if (this._left-- > 0) {
      this._look.ask();
    }
  }

  dispose(): void {
    this._look.dispose();
  }

  private _look: Soon;
  private _left = MOST_LOOKS;
}
