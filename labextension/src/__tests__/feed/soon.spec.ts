import { PromiseDelegate } from '@lumino/coreutils';

import { Soon } from '../../feed/soon';
import { until } from '../diffSamples';

it('runs again for whoever asks while it runs', async () => {
  const ends = [new PromiseDelegate<void>(), new PromiseDelegate<void>()];
  let runs = 0;
  const soon = new Soon(() => ends[runs++].promise, 1);
  soon.ask();
  soon.ask();
  await until(() => runs === 1);
  soon.ask();
  expect(runs).toBe(1);
  ends[0].resolve();
  await until(() => runs === 2);
  ends[1].resolve();
});

it('goes on after a task that failed', async () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation();
  let runs = 0;
  const soon = new Soon(() => Promise.reject(new Error(String(runs++))), 1);
  soon.ask();
  await until(() => warn.mock.calls.length === 1);
  soon.ask();
  await until(() => runs === 2);
  await until(() => warn.mock.calls.length === 2);
  warn.mockRestore();
});

it('runs no more once it is disposed', async () => {
  let runs = 0;
  const soon = new Soon(async () => runs++, 1);
  soon.ask();
  soon.dispose();
  soon.ask();
  await new Promise(resolve => setTimeout(resolve, 5));
  expect(runs).toBe(0);
});
