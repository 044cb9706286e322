/** Servers that answer later, and those that will not. */

import { RequestError } from '../../feed/requests';
import { untilAnswered } from '../../feed/untilAnswered';

const refusal = (code: string) => new RequestError({ code, message: code, hint: '', details: {} });

describe('a server that does not answer', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each(['unreachable', 'io', 'timeout'])('is asked again: %s', async code => {
    const ask = jest
      .fn()
      .mockRejectedValueOnce(refusal(code))
      .mockRejectedValueOnce(refusal(code))
      .mockResolvedValue(1);
    const answer = untilAnswered(ask);
    await jest.advanceTimersByTimeAsync(4000);
    expect(ask).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(7000);
    expect(await answer).toBe(1);
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it.each(['foreign', 'denied', 'disabled'])('is left alone if it would answer the same again: %s', async code => {
    const ask = jest.fn().mockRejectedValue(refusal(code));
    await expect(untilAnswered(ask)).rejects.toMatchObject({ refusal: { code } });
    expect(ask).toHaveBeenCalledTimes(1);
  });
});
