/** Splits long work into short steps, so that the page stays responsive. */

const STEP_MILLISECONDS = 8;

/** Lets the browser draw and answer once a step's time is over. */
export class Pace {
  /** Yield to the browser if the step's time is over. */
  async breathe(): Promise<void> {
    if (performance.now() >= this._until) {
      await new Promise(resolve => setTimeout(resolve));
      this._until = performance.now() + STEP_MILLISECONDS;
    }
  }

  private _until = performance.now() + STEP_MILLISECONDS;
}
