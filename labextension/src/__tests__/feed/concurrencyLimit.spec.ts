import { PromiseDelegate } from '@lumino/coreutils';

import { ConcurrencyLimit } from '../../feed/concurrencyLimit';

it('begins tasks in their order, so many at once, and goes on after one that failed', async () => {
  const tasks = Array.from({ length: 4 }, () => new PromiseDelegate<number>());
  const begun: number[] = [];
  const two = new ConcurrencyLimit(2);
  const ends = tasks.map((task, number) =>
    two.run(() => {
      begun.push(number);
      return task.promise;
    })
  );
  expect(begun).toEqual([0, 1]);
  tasks[1].reject(new Error('failed'));
  await expect(ends[1]).rejects.toThrow('failed');
  expect(begun).toEqual([0, 1, 2]);
  tasks[2].resolve(2);
  expect(await ends[2]).toBe(2);
  expect(begun).toEqual([0, 1, 2, 3]);
  tasks[0].resolve(0);
  tasks[3].resolve(3);
  expect(await Promise.all([ends[0], ends[3]])).toEqual([0, 3]);
});
