import { nullTranslator } from '@jupyterlab/translation';

import type { IActivityFilter } from '../../feed/tokens';

import { FilterBar } from '../../panel/filterBar';

const trans = nullTranslator.load('jupyter_fstools');
const EVERY = ['change', 'read', 'refusal'] as const;

it('keeps what is being typed when it is drawn again, until another path is chosen elsewhere', () => {
  const filter: IActivityFilter = { kinds: EVERY, match: 'a' };
  const bar = new FilterBar(filter, trans, () => EVERY);
  const path = bar.node.querySelector('input')!;
  expect(path.value).toBe('a');
  path.value = 'b';
  bar.filter = { ...filter, session: 'one' };
  expect(path.value).toBe('b');
  bar.filter = { ...filter, match: 'c' };
  expect(path.value).toBe('c');
});

it('offers any session where none is known, and the chosen one among all that are', () => {
  const bar = new FilterBar({ kinds: EVERY }, trans, () => EVERY);
  const select = bar.node.querySelector<HTMLSelectElement>('[data-filter="session"]')!;
  const offered = () => [...select.options].map(option => option.text);
  expect(offered()).toEqual(['Any session']);
  bar.filter = { kinds: EVERY, session: 'one' };
  bar.sessions = ['two'];
  expect([offered(), select.value]).toEqual([['Any session', 'one', 'two'], 'one']);
});

it('lists one kind, or one status, and clears all of it at once', () => {
  const bar = new FilterBar({ kinds: EVERY, session: 'one' }, trans, () => EVERY);
  const chosen: IActivityFilter[] = [];
  bar.chosen.connect((_, filter) => chosen.push(filter));
  const select = bar.node.querySelector<HTMLSelectElement>('[data-filter="status"]')!;
  const clear = bar.node.querySelector<HTMLButtonElement>('[data-action="clear-filter"]')!;
  for (const value of ['reads', 'applied']) {
    select.value = value;
    select.dispatchEvent(new Event('change'));
    expect([select.value, clear.hidden]).toEqual([value, false]);
  }
  clear.click();
  expect(chosen).toEqual([
    { kinds: ['read'], session: 'one' },
    { kinds: EVERY, session: 'one', status: 'applied' },
    { kinds: EVERY }
  ]);
  expect([select.value, clear.hidden]).toEqual(['', true]);
});
