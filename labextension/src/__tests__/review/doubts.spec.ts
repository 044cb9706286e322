import type { ToolsServer } from '../../feed/requests';

import { Doubts } from '../../review/doubts';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

it('asks a server again that has not heard yet of what the page has, and not for ever', async () => {
  const answers = [[], [{ path: 'a.py' }]];
  let asked = 0;
  const standing = async () => ({ changed_since: answers[asked++] ?? [] });
  const about = new Map([['c1', 'a,b']]);
  const doubts = new Doubts({ standing } as unknown as ToolsServer, () => doubts.follow(about));
  doubts.follow(about);
  await jest.advanceTimersByTimeAsync(1000);
  expect(doubts.staleFiles('c1')).toEqual([]);
  await jest.advanceTimersByTimeAsync(1000);
  expect(doubts.staleFiles('c1')).toEqual(['a.py']);
  about.set('c1', 'a,b,c');
  doubts.follow(about);
  await jest.advanceTimersByTimeAsync(60_000);
  expect([doubts.staleFiles('c1'), asked]).toEqual([[], 5]);
});
