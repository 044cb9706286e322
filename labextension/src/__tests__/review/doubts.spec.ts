import type { ToolsServer } from '../../feed/requests';

import { Doubts } from '../../review/doubts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const STALE = [{ path: 'a.py' }];

it.each([
  ['fits', [[], STALE]],
  ['is out of date', [STALE, STALE, []]]
])('asks again, and not for ever, where a proposal %s by an answer that came too early', async (_, answers) => {
  let asked = 0;
  const standing = async () => ({ changed_since: answers[asked++] ?? answers[answers.length - 1] });
  const about = new Map([['c1', 'a,b']]);
  const doubts = new Doubts({ standing } as unknown as ToolsServer, () => doubts.follow(about));
  doubts.follow(about);
  await jest.advanceTimersByTimeAsync(1000);
  expect(doubts.staleFiles('c1')).toEqual(answers[0].map(({ path }) => path));
  await jest.advanceTimersByTimeAsync(60_000);
  expect([doubts.staleFiles('c1'), asked]).toEqual([answers[answers.length - 1].map(({ path }) => path), 3]);
  about.set('c1', 'a,b,c');
  doubts.follow(about);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(6);
});
