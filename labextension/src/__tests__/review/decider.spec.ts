import type { ToolsServer } from '../../feed/requests';
import type { Words } from '../../panel/words';
import type { Decisions } from '../../review/decisions';

import { nullTranslator } from '@jupyterlab/translation';

import { Decider } from '../../review/decider';
import { hunkName } from '../../review/decisions';
import { fileDiff, hunk } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

const proposal = {
  ...changeOf(changed('p')),
  status: 'proposed' as const,
  diff: fileDiff({ hunks: [hunk(['-a', '+A']), hunk(['-b', '+B'])] })
};

/** A decider whose server answers with `decide`, and what it remembers. */
function deciderOf(decide: () => Promise<unknown>): [Decider, Map<string, Decisions>] {
  const decisions = new Map<string, Decisions>();
  const words = { problem: (error: Error) => error.message } as unknown as Words;
  const server = { decide } as unknown as ToolsServer;
  return [
    new Decider({ server, decisions, words, trans: nullTranslator.load('jupyter_fstools') }, () => null),
    decisions
  ];
}

describe('what was decided of a proposal', () => {
  it('is remembered until the last hunk is decided, and forgotten once the server has it', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const [decider, decisions] = deciderOf(asked);
    await decider.decide(proposal, [hunkName(0)], 'approve', {});
    expect(asked).not.toHaveBeenCalled();
    expect(decider.taken(proposal, hunkName(0))).toBe(true);
    await decider.decide(proposal, [hunkName(1)], 'reject', {});
    expect(asked).toHaveBeenCalledWith(proposal.id, 'approve', { hunks: [0], reason: undefined });
    expect(decisions.size).toBe(0);
  });

  it('stays where the server refuses', async () => {
    const [decider, decisions] = deciderOf(() => Promise.reject(new Error('full')));
    await decider.decide(proposal, [hunkName(0), hunkName(1)], 'approve', {});
    expect(decider.problem).toBe('full');
    expect([...decisions.keys()]).toEqual([proposal.id]);
  });
});
