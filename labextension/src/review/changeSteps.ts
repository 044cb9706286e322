/** Leads a person from change to change in one document. */

import type { IPlace, IReviewView } from './reviewView';

/** Steps forth (1) and back (-1). */
export class ChangeSteps {
  /**
   * @param view - returns the view that draws the document's changes, once there is one.
   */
  constructor(private _view: () => Pick<IReviewView, 'here' | 'places'> | null) {}

  /** Go to the next or previous change from where the person is; false if there is none. */
  go(by: 1 | -1): boolean {
    const here = this._view()?.here ?? [0, 0];
    const places = this._places;
    const onward = places.filter(({ at, id }) => {
      const way = (at[0] - here[0] || at[1] - here[1]) * by;
      return way > 0 || (way === 0 && id !== this._reached);
    });
    const wasLed = places.some(({ id }) => id === this._reached);
    return this._goToFirst(onward, by) || (!wasLed && this._goToFirst(places, by));
  }

  /** Go to the first change, or to the last one when stepping back; false if there is none. */
  enter(by: 1 | -1): boolean {
    return this._goToFirst(this._places, by);
  }

  private get _places(): IPlace[] {
    return this._view()?.places() ?? [];
  }

  private _goToFirst(places: readonly IPlace[], by: 1 | -1): boolean {
    const place = places.at(by > 0 ? 0 : -1);
    this._reached = place?.id ?? this._reached;
    place?.reveal();
    return place !== undefined;
  }

  /** The id of the change that the person was last led to. */
  private _reached = '';
}
