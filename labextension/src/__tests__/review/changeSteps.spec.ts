import type { IPlace, Position } from '../../review/reviewView';

import { ChangeSteps } from '../../review/changeSteps';

/** A document with changes at these lines, each named by its line; a step moves the person to the change. */
class ViewSample {
  constructor(...lines: number[]) {
    this.lines = lines;
  }

  lines: number[];
  here: Position = [0, 0];

  places(): IPlace[] {
    return this.lines.map(line => {
      const at: Position = [0, line];
      return { at, id: `${line}`, reveal: () => (this.here = at) };
    });
  }
}

/** The lines that steps in one direction lead to, until there is none. */
function ledTo(steps: ChangeSteps, view: ViewSample, by: 1 | -1): number[] {
  const led: number[] = [];
  while (led.length < 10 && steps.go(by)) {
    led.push(view.here[1]);
  }
  return led;
}

it('leads to each change once, forth and back', () => {
  const view = new ViewSample(0, 3, 7);
  const steps = new ChangeSteps(() => view);
  expect(ledTo(steps, view, 1)).toEqual([0, 3, 7]);
  expect(ledTo(steps, view, -1)).toEqual([3, 0]);
});

it('begins again where the person is beyond all changes, but was led to none of them', () => {
  const view = new ViewSample(3, 7);
  view.here = [0, 9];
  const steps = new ChangeSteps(() => view);
  expect([steps.go(1), view.here[1]]).toEqual([true, 3]);
  view.here = [0, 9];
  expect([steps.go(1), view.here[1]]).toEqual([false, 9]);
});

it('enters at the first change, or at the last one on the way back', () => {
  const view = new ViewSample(3, 7);
  const steps = new ChangeSteps(() => view);
  expect([steps.enter(-1), view.here[1]]).toEqual([true, 7]);
  expect([steps.enter(1), view.here[1]]).toEqual([true, 3]);
  view.lines = [];
  expect([steps.enter(1), new ChangeSteps(() => null).go(1)]).toEqual([false, false]);
});
