/** Notifies the person once that something waits for a decision. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import { Notification } from '@jupyterlab/apputils';

import type { IActivityFeed } from '../feed/tokens';
import type { Words } from './words';

/** Follows the feed's number of waiting changes. */
export class WaitingNotice implements IDisposable {
  /**
   * @param show - lists the waiting changes.
   * @param compare - shows the newest of them in the main area.
   */
  constructor(
    private _feed: IActivityFeed,
    private _show: () => void,
    private _compare: () => unknown,
    private _words: Words,
    private _trans: TranslationBundle
  ) {
    _feed.changed.connect(this._onChanged, this);
  }

  /** Whether the person wants to be told; what waits already is told as soon as they want it again. */
  set isWanted(isWanted: boolean) {
    const isNew = isWanted !== this._isWanted;
    this._isWanted = isWanted;
    if (!isWanted) {
      this._dismiss();
    } else if (isNew && this._waiting && !this._isSeen) {
      this._tell(this._waiting, true);
    }
  }

  /** Whether the person already sees the waiting changes. */
  set isSeen(isSeen: boolean) {
    this._isSeen = isSeen;
    if (isSeen) {
      this._dismiss();
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._feed.changed.disconnect(this._onChanged, this);
    this._dismiss();
  }

  private _onChanged(): void {
    const { waiting } = this._feed;
    const before = this._waiting;
    this._waiting = waiting;
    if (!waiting || !this._isWanted || this._isSeen) {
      this._dismiss();
    } else if (waiting !== before) {
      this._tell(waiting, waiting > before);
    }
  }

  /** Update the notice; if the person has dismissed it, show another one, but only for new changes. */
  private _tell(waiting: number, isNews: boolean): void {
    const message = this._words.waiting(waiting);
    const actions = [
      { label: this._trans.__('Compare'), callback: () => void this._compare() },
      { label: this._trans.__('Show'), callback: this._show }
    ];
    const isUpdated = this._notice !== null && Notification.update({ id: this._notice, message, actions });
    if (isNews && !isUpdated) {
      this._notice = Notification.info(message, { autoClose: false, actions });
    }
  }

  private _dismiss(): void {
    if (this._notice !== null) {
      Notification.dismiss(this._notice);
      this._notice = null;
    }
  }

  private _isWanted = true;
  private _isSeen = false;
  private _waiting = 0;
  private _notice: string | null = null;
  private _isDisposed = false;
}
