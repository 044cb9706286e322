import { BegunReviews } from '../../review/begunReviews';
import { fileDiff, hunk } from '../diffSamples';
import { changed, changeOf } from '../serverSample';

const cut = {
  ...changeOf(changed('p', { status: 'proposed' })),
  diff: fileDiff({ hunks: [hunk(['-a', '+A'])], truncated: true })
};
const whole = { ...cut, diff: fileDiff({ hunks: [hunk(['-a', '+A']), hunk(['-b', '+B'], 9)] }) };
const server = { standing: async () => ({ change: cut, changed_since: [] }), whole: async () => whole };

/** A document's review, which notes what it decides. */
const reviewOf = (name: string, asked: string[], { shows = true, hasBegun = false } = {}) => ({
  shows: () => shows,
  hasBegun: () => hasBegun,
  noteBegun: (decision: string) => void asked.push(`${decision} what is begun in ${name}`),
  decideWhole: async ({ diff }: typeof whole, decision: string) => {
    asked.push(`${decision} ${diff.hunks.length} hunks in ${name}`);
    return whole;
  }
});

it.each([
  [
    'that in which the person has begun first, and what they have begun in another one counts',
    [{ hasBegun: false }, { hasBegun: true }, { hasBegun: true }],
    ['approve what is begun in 1', 'approve what is begun in 2', 'approve 2 hunks in 1']
  ],
  ['the first that shows the change', [{ shows: false }, {}, {}], ['approve 2 hunks in 1']],
  ['none, where it is not open', [{ shows: false }], ['approve 2 hunks in none']]
])('decides in the document: %s', async (_, documents, expected) => {
  const asked: string[] = [];
  const reviews = documents.map((is, at) => reviewOf(String(at), asked, is));
  const begun = new BegunReviews(server, { has: () => false }, () => reviews, reviewOf('none', asked));
  expect(begun.has('p')).toBe(documents.some(is => 'hasBegun' in is && is.hasBegun));
  await begun.decide('p', 'approve');
  expect(asked).toEqual(expected);
});
