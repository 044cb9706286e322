import type { Entry } from '../../feed/tokens';

import { countsOf, rowsOf, turnsOf } from '../../panel/turns';
import { changed, wasRead, wasRefused } from '../serverSample';

const newestFirst = (...entries: Entry[]) => entries.sort((one, other) => other.at - one.at);

it('groups what a session did without a pause, also where others work meanwhile', () => {
  const entries = newestFirst(
    changed('a', { at: 1000 }),
    changed('x', { at: 1001, session: 'two' }),
    changed('b', { at: 1100 }),
    changed('c', { at: 1500 })
  );
  expect(turnsOf(entries).map(({ session, changes }) => [session, changes.map(({ id }) => id).join()])).toEqual([
    ['one', 'c'],
    ['one', 'b,a'],
    ['two', 'x']
  ]);
});

it('counts files once, and leaves out what was undone or rejected, and steps back', () => {
  const [turn] = turnsOf([
    changed('a', { path: 'a', added: 2 }),
    changed('b', { path: 'a', added: 3 }),
    changed('c', { paths: ['a', 'b'], added: 5, removed: 0 }),
    changed('d', { path: 'd', status: 'undone' }),
    changed('e', { path: 'e', status: 'rejected' }),
    changed('f', { path: 'f', undoes: 'd' }),
    changed('h', { path: 'h', tool: 'undo' }),
    changed('g', { path: '.', op: 'execute' })
  ]);
  expect(countsOf(turn)).toEqual({ files: 2, commands: 1, added: 10, removed: 2 });
});

it('folds reads and refusals, and tells those that were repaired', () => {
  const entries = newestFirst(
    wasRefused('r1', { at: 1 }),
    wasRead('read', { at: 2 }),
    changed('a', { at: 3 }),
    wasRefused('r2', { at: 4 }),
    wasRefused('r3', { at: 1.5, tool: 'read_file' }),
    wasRefused('r4', { at: 1.6, path: null })
  );
  const turns = turnsOf(entries);
  expect(turns[0].refusals.filter(({ repaired }) => repaired).map(({ id }) => id)).toEqual(['r3', 'r1']);
  expect(rowsOf(turns, () => false).map(({ id }) => id)).toEqual(['turn a', 'a']);
  expect(rowsOf(turns, () => true).map(({ id }) => id)).toEqual(['turn a', 'r2', 'a', 'read', 'r4', 'r3', 'r1']);
});

it("keeps a person's own step back apart, under their name", () => {
  const turns = turnsOf(newestFirst(changed('a', { at: 1 }), changed('b', { at: 2, tool: 'undo', decided_by: 'bob' })));
  expect(turns.map(({ person }) => person)).toEqual(['bob', null]);
});
