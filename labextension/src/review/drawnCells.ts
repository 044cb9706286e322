/** Draws cells of a notebook once they come into sight. */

import type { IOpenCell } from './cellMarks';

import { Pace } from '../diff/pace';

const AROUND_THE_SCREEN = '400px';

/** The cells that are or were on screen, and show something. */
export class DrawnCells {
  /**
   * @param notebook - scrolls.
   * @param _draw - draws a cell as it is now; false if it shows nothing.
   */
  constructor(
    notebook: HTMLElement,
    private _draw: (cell: IOpenCell) => boolean
  ) {
    this._onScreen = new IntersectionObserver(entries => this._onSeen(entries), {
      root: notebook,
      rootMargin: AROUND_THE_SCREEN
    });
  }

  /** Draw exactly these cells once they come into sight. */
  follow(cells: readonly IOpenCell[]): void {
    this._followed = cells;
    this._onScreen.disconnect();
    cells.forEach(({ node }) => this._onScreen.observe(node));
  }

  /** Draw cells again that were drawn and show something. */
  drawAgain(isMeant = (_: IOpenCell) => true): void {
    [...this._drawn].filter(isMeant).forEach(cell => this._drawOne(cell));
  }

  dispose(): void {
    this._onScreen.disconnect();
    this._drawn.clear();
    this._queue = [];
  }

  private _onSeen(entries: readonly IntersectionObserverEntry[]): void {
    const seen = new Set(entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target));
    const cells = seen.size ? this._followed.filter(cell => seen.has(cell.node)) : [];
    this._drawSoon(cells.filter(cell => !this._drawn.has(cell)));
  }

  private _drawSoon(cells: readonly IOpenCell[]): void {
    const isBusy = this._queue.length > 0;
    this._queue.push(...cells);
    if (!isBusy) {
      void this._drawQueue();
    }
  }

  /** Draw a few cells at a time, so that scrolling is not held up. */
  private async _drawQueue(): Promise<void> {
    // Not in the task in which the cells came into view: JupyterLab's own work makes it long enough.
    await new Promise(resolve => setTimeout(resolve));
    const pace = new Pace();
    while (this._queue.length) {
      const [cell] = this._queue;
      const isComplete = cell.editor !== null;
      this._drawOne(cell);
      if (!isComplete) {
        // Its editor is created after the cell has come into view, in a task that is long enough by itself.
        void cell.ready?.then(() => window.setTimeout(() => this._drawSoon([cell]))).catch(() => undefined);
      }
      await pace.breathe();
      this._queue.shift();
    }
  }

  private _drawOne(cell: IOpenCell): void {
    if (!cell.isDisposed && this._draw(cell)) {
      this._drawn.add(cell);
    } else {
      this._drawn.delete(cell);
    }
  }

  private readonly _onScreen: IntersectionObserver;
  private _followed: readonly IOpenCell[] = [];
  private _drawn = new Set<IOpenCell>();
  private _queue: IOpenCell[] = [];
}
