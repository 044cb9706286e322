import type { ToolsServer } from '../../feed/requests';
import type { Words } from '../../panel/words';
import type { Change } from '../../payloads';
import type { IReviewView, IWritten } from '../../review/reviewView';

import { nullTranslator } from '@jupyterlab/translation';

import { RequestError } from '../../feed/requests';
import { Decider } from '../../review/decider';
import { hunkName } from '../../review/decisions';
import { KeptDecisions } from '../../review/keptDecisions';
import { fileDiff, hunk } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

const proposal = {
  ...changeOf(changed('p')),
  status: 'proposed' as const,
  diff: fileDiff({ hunks: [hunk(['-a', '+A']), hunk(['-b', '+B'])] })
};

/**
 * A decider whose server answers with `decide`, and its decisions; `written` gives its document's current text, and
 * `putBack` tells whether that contains a change; `facts` of each change are known to the server alone.
 */
function deciderOf(
  decide: (...asked: unknown[]) => Promise<unknown>,
  written: () => IWritten | null = () => null,
  decisions = new KeptDecisions(),
  putBack: (change: Change) => boolean = () => false,
  facts: Partial<Change> = {}
): [Decider, KeptDecisions] {
  const words = { problem: (error: Error) => error.message } as unknown as Words;
  const standing = async (id: string) => ({ change: { ...proposal, id, ...facts }, changed_since: [] });
  const server = { decide, standing } as unknown as ToolsServer;
  return [
    new Decider(
      { server, decisions, words, unseen: { user: 'ann' }, trans: nullTranslator.load('jupyter_fstools') },
      () => ({ written, putBack }) as unknown as IReviewView
    ),
    decisions
  ];
}

beforeEach(() => sessionStorage.clear());

describe('what was decided of a proposal', () => {
  it('is remembered until the last hunk is decided, and forgotten once the server has it', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const [decider, decisions] = deciderOf(asked);
    await decider.decide(proposal, [hunkName(0)], 'approve', {});
    expect(asked).not.toHaveBeenCalled();
    expect(decider.taken(proposal, [hunkName(0)])).toBe(true);
    await decider.decide(proposal, [hunkName(1)], 'reject', {});
    expect(asked).toHaveBeenCalledWith(proposal.id, 'approve', { hunks: [0], reason: undefined });
    expect(decisions.of(proposal)).toBeUndefined();
  });

  it('is told of several hunks only if it is the same, and keeps the text of one that was edited', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const names = [hunkName(0), hunkName(1)];
    const written = { content: 'edited' } as unknown as IWritten;
    const [decider, decisions] = deciderOf(asked, () => written);
    await decider.decide(proposal, [names[0]], 'approve', { text: 'edited' });
    expect(decider.taken(proposal, names)).toBeUndefined();
    expect([decider.text(proposal, [names[0]]), decider.text(proposal, names)]).toEqual(['edited', undefined]);
    decisions.of(proposal)!.decide(names, true);
    expect(decisions.of(proposal)!.texts).toEqual(new Map([[names[0], 'edited']]));
    expect(decider.taken(proposal, names)).toBe(true);
  });

  it.each([1, 2])('is approved as a whole after the server refused to reject all of it: %s hunks', async count => {
    const answers = [Promise.reject(new Error('not now')), Promise.resolve()];
    const asked = jest.fn(() => answers.shift()!);
    const [decider] = deciderOf(asked);
    const change = { ...proposal, diff: fileDiff({ hunks: proposal.diff.hunks.slice(0, count) }) };
    for (const at of proposal.diff.hunks.slice(0, count).keys()) {
      await decider.decide(change, [hunkName(at)], 'reject', {});
    }
    expect(decider.problem).toBe('not now');
    await decider.decideWhole(change, 'approve');
    expect(asked).toHaveBeenLastCalledWith(proposal.id, 'approve', { hunks: undefined, reason: undefined });
  });

  it('stays when the rest is decided elsewhere, save that a rejection is of all', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const [decider, decisions] = deciderOf(asked);
    await decider.decide(proposal, [hunkName(0)], 'reject', { reason: 'too long' });
    await decider.decideWhole(proposal, 'approve');
    await decider.decide(proposal, [hunkName(0)], 'approve', {});
    await decider.decideWhole(proposal, 'reject');
    expect(asked.mock.calls).toEqual([
      [proposal.id, 'approve', { hunks: [1], reason: 'too long' }],
      [proposal.id, 'reject', { reason: undefined }]
    ]);
    expect(decisions.has(proposal.id)).toBe(false);
  });

  it('is not written without its document where a text was edited', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const [decider, decisions] = deciderOf(asked);
    await decider.decide(proposal, [hunkName(0)], 'approve', { text: 'edited' });
    const closed = new Decider(
      {
        server: { decide: asked } as unknown as ToolsServer,
        decisions,
        words: {} as Words,
        unseen: { user: 'ann' },
        trans: nullTranslator.load('jupyter_fstools')
      },
      () => null
    );
    await expect(closed.decideWhole(proposal, 'approve')).rejects.toThrow('open it to approve');
    expect(asked).not.toHaveBeenCalled();
  });

  it('stays when the page is loaded again', async () => {
    const asked = jest.fn(() => Promise.resolve());
    const [before] = deciderOf(asked);
    await before.decide(proposal, [hunkName(1)], 'reject', { reason: 'too long' });
    const [decider] = deciderOf(asked);
    expect([0, 1].map(at => decider.taken(proposal, [hunkName(at)]))).toEqual([undefined, false]);
    await decider.decide(proposal, [hunkName(0)], 'approve', {});
    expect(asked.mock.calls).toEqual([[proposal.id, 'approve', { hunks: [0], reason: 'too long' }]]);
    const [after] = deciderOf(asked);
    expect(after.taken(proposal, [hunkName(1)])).toBeUndefined();
  });

  it('is forgotten when the page is loaded again and the diff has other hunks by now', async () => {
    const [before] = deciderOf(() => Promise.resolve());
    await before.decide(proposal, [hunkName(0)], 'approve', {});
    const other = { ...proposal, diff: fileDiff({ hunks: [hunk(['-b', '+B']), hunk(['-c', '+C', '+D'])] }) };
    const [decider] = deciderOf(() => Promise.resolve());
    expect(decider.taken(other, [hunkName(0)])).toBeUndefined();
    expect(decider.taken(proposal, [hunkName(0)])).toBe(true);
  });

  it('is decided by somebody whose browser keeps nothing', async () => {
    const refuse = () => {
      throw new Error('forbidden');
    };
    const decisions = new KeptDecisions({ getItem: refuse, setItem: refuse });
    const [decider] = deciderOf(
      () => Promise.resolve(),
      () => null,
      decisions
    );
    await decider.decide(proposal, [hunkName(0)], 'approve', {});
    expect(decider.taken(proposal, [hunkName(0)])).toBe(true);
  });

  it('stays where the server refuses', async () => {
    const [decider, decisions] = deciderOf(() => Promise.reject(new Error('full')));
    await decider.decide(proposal, [hunkName(0), hunkName(1)], 'approve', {});
    expect(decider.problem).toBe('full');
    expect(decisions.of(proposal)?.taken).toEqual([hunkName(0), hunkName(1)]);
  });
});

describe('a proposal without hunks', () => {
  const empty = { ...proposal, diff: fileDiff({ op: 'delete' }) };
  const ofNotebook = { ...proposal, diff: fileDiff({ kind: 'notebook', cells: [] }) };

  it.each([
    ['approve', 'an empty file that is deleted', empty],
    ['reject', 'an empty file that is deleted', empty],
    ['approve', 'a notebook of which no cell changes', ofNotebook]
  ] as const)('is decided as the person said: %s, of %s', async (decision, _, change) => {
    const asked = jest.fn(() => Promise.resolve());
    const [decider] = deciderOf(asked);
    await decider.decideAll([change], decision);
    expect(asked.mock.calls).toEqual([[change.id, decision, {}]]);
  });
});

const stale = () => Promise.reject(new RequestError({ code: 'stale', message: 'moved on', hint: '', details: {} }));

it.each([
  ['the hunks that are not kept', { kept: { ann: [0] } }, [['other', 'undo', { hunks: [1] }]]],
  ['nothing, where all is kept', { seen_by: ['ann'] }, []]
])('of a change in another document is undone: %s', async (_, facts, expected) => {
  const asked = jest.fn(() => Promise.resolve());
  const [decider] = deciderOf(
    asked,
    () => null,
    new KeptDecisions(),
    () => false,
    facts
  );
  await decider.decideAll([], 'undo', [{ ...proposal, id: 'other', status: 'applied' }]);
  expect(asked.mock.calls).toEqual(expected);
});

describe('a change that the server cannot undo', () => {
  const made = { ...proposal, status: 'applied' as const };
  const other = { ...made, id: 'other' };
  const several = { ...made, id: 'several', files: [other, made] as unknown as Change['files'] };
  const only = (...[, decision]: unknown[]) => (decision === 'undo' ? stale() : Promise.resolve());

  it.each([
    ['its document', [made], [], true],
    ['another document', [], [other], false],
    ['one of its documents', [several], [], false]
  ])('is put back by an edit only where no other file is left as it is: %s', async (_, here, others, isEdited) => {
    const asked = jest.fn(only);
    const putBack = jest.fn(() => true);
    const [decider] = deciderOf(asked, () => null, new KeptDecisions(), putBack);
    await decider.decideAll(here, 'undo', others);
    expect(putBack).toHaveBeenCalledTimes(isEdited ? 1 : 0);
    expect(asked.mock.calls.map(([, decision]) => decision)).toEqual(isEdited ? ['undo', 'keep'] : ['undo']);
    expect(decider.problem).toBe(isEdited ? '' : 'moved on');
  });
});

it('undoes all of a change but the hunks that the person keeps', async () => {
  const asked = jest.fn(() => Promise.resolve());
  const [decider] = deciderOf(asked);
  const made = { ...proposal, status: 'applied' as const };
  await decider.decideAll(
    [
      { ...made, kept: { ann: [1], bob: [0] } },
      { ...made, kept: { bob: [0] } }
    ],
    'undo'
  );
  expect(asked.mock.calls).toEqual([
    [made.id, 'undo', { hunks: [0] }],
    [made.id, 'undo', {}]
  ]);
});

describe('an edited proposal', () => {
  const names = [hunkName(0), hunkName(1)];

  it('is made again from the text as it is, as often as that changes on the way', async () => {
    const asked = jest.fn().mockImplementationOnce(stale).mockImplementationOnce(stale).mockResolvedValue({});
    let text = 'a';
    const [decider] = deciderOf(asked, () => ({ content: `${(text += 'a')} edited`, base: text }));
    await decider.decide(proposal, names, 'approve', { text: 'edited' });
    expect(asked.mock.calls.map(([, , body]) => body)).toMatchObject([
      { content: 'aa edited', base: 'aa' },
      { content: 'aaa edited', base: 'aaa' },
      { content: 'aaaa edited', base: 'aaaa' }
    ]);
    expect(decider.problem).toBe('');
  });

  it('is not tried for ever', async () => {
    const asked = jest.fn(stale);
    const [decider] = deciderOf(asked, () => ({ content: 'b', base: 'a' }));
    await decider.decide(proposal, names, 'approve', { text: 'edited' });
    expect(asked.mock.calls.length).toBe(10);
    expect(decider.problem).toBe('moved on');
  });

  it('is not written where its text has no place any more, and stays decided', async () => {
    const asked = jest.fn();
    const [decider, decisions] = deciderOf(asked, () => null);
    await decider.decide(proposal, names, 'approve', { text: 'edited' });
    expect(asked).not.toHaveBeenCalled();
    expect(decider.problem).toBe('The text has changed since; nothing was written.');
    expect(decisions.of(proposal)?.taken).toEqual(names);
  });
});
