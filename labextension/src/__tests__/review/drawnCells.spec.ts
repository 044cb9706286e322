import type { IOpenCell } from '../../review/cellMarks';

import { DrawnCells } from '../../review/drawnCells';

/** Reports elements as on screen when told to. */
class ScreenSample {
  constructor(private _report: (entries: object[]) => void) {
    ScreenSample.last = this;
  }

  static last: ScreenSample;

  observe(node: Element): void {
    this._observed.add(node);
  }

  disconnect(): void {
    this._observed.clear();
  }

  show(...cells: IOpenCell[]): void {
    const shown = cells.filter(({ node }) => this._observed.has(node));
    this._report(shown.map(({ node }) => ({ target: node, isIntersecting: true })));
  }

  private _observed = new Set<Element>();
}

const original = window.IntersectionObserver;
beforeEach(() => {
  jest.useFakeTimers();
  window.IntersectionObserver = ScreenSample as never;
});
afterEach(() => {
  jest.useRealTimers();
  window.IntersectionObserver = original;
});

function cellOf(id: string, facts: Partial<IOpenCell> = {}): IOpenCell {
  const model = { id, type: 'code', sharedModel: { getSource: () => '' } };
  return { node: document.createElement('div'), model, editor: {}, isDisposed: false, ...facts };
}

/** Cells on a screen, and the ids of those that were drawn, in order; a cell in `empty` shows nothing. */
function drawnCells(): { cells: DrawnCells; drawn: string[]; empty: Set<string> } {
  const drawn: string[] = [];
  const empty = new Set<string>();
  const draw = ({ model: { id } }: IOpenCell) => drawn.push(id) > 0 && !empty.has(id);
  return { cells: new DrawnCells(document.createElement('div'), draw), drawn, empty };
}

it('draws a cell once it comes into sight, and again when told to', async () => {
  const { cells, drawn, empty } = drawnCells();
  const [one, two, other] = ['one', 'two', 'other'].map(id => cellOf(id));
  cells.follow([one, two]);
  cells.drawAgain();
  expect(drawn).toEqual([]);
  ScreenSample.last.show(two, other, one);
  await jest.runAllTimersAsync();
  expect(drawn).toEqual(['one', 'two']);
  ScreenSample.last.show(one);
  await jest.runAllTimersAsync();
  cells.drawAgain(cell => cell === two);
  expect(drawn).toEqual(['one', 'two', 'two']);
  empty.add('one');
  cells.drawAgain();
  cells.drawAgain();
  expect(drawn.slice(3)).toEqual(['one', 'two', 'two']);
});

it('draws a cell again that gets its editor after it came into sight', async () => {
  const { cells, drawn } = drawnCells();
  const late = cellOf('late', { editor: null, ready: Promise.resolve() });
  cells.follow([late]);
  ScreenSample.last.show(late);
  await jest.advanceTimersByTimeAsync(0);
  Object.assign(late, { editor: {} });
  await jest.runAllTimersAsync();
  expect(drawn).toEqual(['late', 'late']);
});

it('draws neither a cell that is gone nor any after disposal', async () => {
  const { cells, drawn } = drawnCells();
  const [gone, stays] = [cellOf('gone', { isDisposed: true }), cellOf('stays')];
  cells.follow([gone, stays]);
  ScreenSample.last.show(gone);
  await jest.runAllTimersAsync();
  ScreenSample.last.show(stays);
  cells.dispose();
  await jest.runAllTimersAsync();
  cells.drawAgain();
  expect(drawn).toEqual([]);
});
