import { nullTranslator } from '@jupyterlab/translation';

import type { IOpenCell } from '../../review/cellMarks';

import { HiddenCells } from '../../review/hiddenCells';

const trans = nullTranslator.load('jupyter_fstools');

/** A cell that a collapsed heading may hide, as JupyterLab does. */
class CellSample {
  constructor(id: string) {
    this.model = { id, type: 'code', sharedModel: { getSource: () => '' } };
  }

  readonly node = document.createElement('div');
  readonly model: IOpenCell['model'];
  readonly editor = null;
  readonly isDisposed = false;

  get isHidden(): boolean {
    return this.node.classList.contains('lm-mod-hidden');
  }

  set isHidden(isHidden: boolean) {
    this.node.classList.toggle('lm-mod-hidden', isHidden);
  }
}

it('tells at the heading how many cells with changes are hidden below it, as of now', async () => {
  const widgets = ['heading', 'a', 'b', 'c', 'd'].map(id => new CellSample(id));
  const [, a, b, c] = widgets;
  [a, b, c].forEach(cell => (cell.isHidden = true));
  const changed = jest.fn();
  const hidden = new HiddenCells({ widgets }, trans, changed);
  const said = () => hidden.notesAt('heading').map(note => note.make().textContent);
  expect(said()).toEqual([]);
  hidden.follow(new Set(['a', 'c', 'd']));
  expect(said()).toEqual(['Changes in 2 hidden cells']);
  expect(hidden.notesAt('d')).toEqual([]);
  a.isHidden = false;
  await Promise.resolve();
  expect(changed).toHaveBeenCalledTimes(1);
  expect(said()).toEqual([]);
  expect(hidden.notesAt('a').map(note => note.key)).toEqual(['Changes in 1 hidden cell']);
  a.node.classList.add('jp-mod-active');
  await Promise.resolve();
  hidden.dispose();
  a.isHidden = true;
  await Promise.resolve();
  expect(changed).toHaveBeenCalledTimes(1);
});
