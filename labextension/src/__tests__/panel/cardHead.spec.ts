import { element } from '../../element';
import { tellTimes, timeOf } from '../../panel/cardHead';

const NOW = new Date('2030-01-01T12:00:00Z');

beforeEach(() => jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

const secondsAgo = (seconds: number) => timeOf(NOW.getTime() / 1000 - seconds);

it('says the same of all times within a minute, which nobody draws anew every second', () => {
  expect(secondsAgo(4).textContent).toBe(secondsAgo(0).textContent);
  expect(secondsAgo(61).textContent).not.toBe(secondsAgo(0).textContent);
});

it('says times as of now', () => {
  const list = element('div', '');
  list.append(secondsAgo(50));
  jest.setSystemTime(NOW.getTime() + 30_000);
  tellTimes(list);
  expect(list.textContent).toBe(timeOf(NOW.getTime() / 1000 - 50).textContent);
  expect(list.textContent).not.toBe(secondsAgo(-30).textContent);
});
