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

it('offers any session where none is known, and the chosen one among all that are', () => {
  const bar = new FilterBar({ kinds: ['change'] }, nullTranslator.load('jupyter_fstools'));
  const select = bar.node.querySelector<HTMLSelectElement>('[data-filter="session"]')!;
  const offered = () => [...select.options].map(option => option.text);
  expect(offered()).toEqual(['Any session']);
  bar.filter = { kinds: ['change'], session: 'one' };
  bar.sessions = ['two'];
  expect([offered(), select.value]).toEqual([['Any session', 'one', 'two'], 'one']);
});
