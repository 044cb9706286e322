import * as fc from 'fast-check';

import { alignedCells, cellsIn, differs, isChanged, longestRising, sourceOf } from '../../diff/notebookSides';

const cell = (id: string, source: string | string[] = id, more = {}) => ({
  id,
  cell_type: 'code',
  source,
  metadata: {},
  outputs: [],
  ...more
});
const notebook = (...cells: object[]) => cellsIn(JSON.stringify({ cells, metadata: {} }))!;

it('pairs cells by their ids, and puts a deleted one where it was', () => {
  const old = notebook(cell('a'), cell('b'), cell('c'), cell('d'));
  const now = notebook(cell('a'), cell('d'), cell('c', ['c', '2']), cell('e'));
  const pairs = alignedCells(old, now)!;
  const told = pairs.map(pair => [pair.id, pair.old !== null, pair.new !== null, pair.isMoved]);
  expect(told).toEqual([
    ['a', true, true, false],
    ['b', true, false, false],
    ['d', true, true, expect.any(Boolean)],
    ['c', true, true, expect.any(Boolean)],
    ['e', false, true, false]
  ]);
  expect(pairs.filter(({ isMoved }) => isMoved)).toHaveLength(1);
  expect(pairs.map(isChanged)).toEqual([false, true, expect.any(Boolean), true, true]);
});

it('tells which part of a cell differs', () => {
  const outputs = [{ output_type: 'stream', name: 'stdout', text: 'x' }];
  const [pair] = alignedCells(notebook(cell('a', 'x', { outputs })), notebook(cell('a', ['x'])))!;
  expect((['source', 'outputs', 'metadata', 'cell_type'] as const).map(part => differs(pair, part))).toEqual([
    false,
    true,
    false,
    false
  ]);
  expect(sourceOf(pair.new)).toBe('x');
});

it('gives up where cells have no ids', () => {
  expect(alignedCells([], notebook({ ...cell('a'), id: undefined }))).toBeNull();
});

it.each([null, '', ' \n'])('finds no cells in %j', text => {
  expect(cellsIn(text)).toEqual([]);
});

it.each(['{"cells": [', '[1]', 'null', '{"worksheets": []}'])('takes %s for no notebook', text => {
  expect(cellsIn(text)).toBeNull();
});

it('a longest rising part rises, and is in order', () => {
  expect(longestRising([3, 1, 2, 5, 4])).toHaveLength(3);
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(50)), numbers => {
      const found = longestRising(numbers);
      expect(found).toEqual([...found].sort((one, other) => one - other));
      expect(numbers.filter(number => found.includes(number))).toEqual(found);
    })
  );
});
