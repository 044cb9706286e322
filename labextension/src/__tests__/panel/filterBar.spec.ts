import { nullTranslator } from '@jupyterlab/translation';

import type { IActivityFilter } from '../../feed/tokens';

import { FilterBar } from '../../panel/filterBar';

it('keeps what is being typed when it is drawn again, until another path is chosen elsewhere', () => {
  const filter: IActivityFilter = { kinds: ['change'], path: 'a' };
  const bar = new FilterBar(filter, nullTranslator.load('jupyter_fstools'));
  const path = bar.node.querySelector('input')!;
  expect(path.value).toBe('a');
  path.value = 'b';
  bar.filter = { ...filter, session: 'one' };
  expect(path.value).toBe('b');
  bar.filter = { ...filter, path: 'c' };
  expect(path.value).toBe('c');
});
