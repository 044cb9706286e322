import { showUncovered } from '../../documents/collapsed';

/** A cell's widget whose heading's level is known once it was asked for, as in JupyterLab from 4.3 on. */
class Widget {
  constructor(
    private _level: number,
    readonly headingCollapsed: boolean,
    public isHidden: boolean
  ) {}

  headingInfo = { level: -1 };

  setHidden(hidden: boolean): void {
    this.isHidden = hidden;
  }

  getHeadings(): Promise<void> {
    return Promise.resolve().then(() => void (this.headingInfo = { level: this._level }));
  }
}

/** `#` is a heading, `#>` a collapsed one, `x` another cell; those in brackets are hidden. */
function notebook(cells: string): { widgets: Widget[]; isDisposed: boolean } {
  const widgets = cells.split(' ').map(cell => {
    return new Widget(cell.split('#').length - 1 || -1, cell.includes('>'), cell.startsWith('['));
  });
  return { widgets, isDisposed: false };
}

describe('cells below a collapsed heading', () => {
  it.each([
    ['[x] [##] [x] # x', 'x ## x # x'],
    ['#> [x] # [x]', '#> [x] # x'],
    ['##> [x] [##] [x]', '##> [x] ## x'],
    ['[##>] [x] [x] # x', '##> [x] [x] # x'],
    ['x> [x]', 'x> x'],
    ['#> [##>] [x] [##] [x]', '#> [##>] [x] [##] [x]'],
    ['#> x', '#> x']
  ])('are shown unless one still covers them: %s', async (before, after) => {
    const shown = notebook(before);
    await showUncovered(shown);
    expect(shown.widgets.map(({ isHidden }) => isHidden)).toEqual(
      notebook(after).widgets.map(({ isHidden }) => isHidden)
    );
  });

  it('are left alone in a notebook that was closed meanwhile', async () => {
    const shown = notebook('[x]');
    const ended = showUncovered(shown);
    shown.isDisposed = true;
    await ended;
    expect(shown.widgets[0].isHidden).toBe(true);
  });
});
