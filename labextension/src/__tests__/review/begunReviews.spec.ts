import { BegunReviews } from '../../review/begunReviews';
import { changed, changeOf } from '../serverSample';

const change = changeOf(changed('p', { status: 'proposed' }));

/** A document's review, which notes what it decides. */
const reviewOf = (name: string, asked: string[], { shows = true, hasBegun = false } = {}) => ({
  shows: () => shows,
  hasBegun: () => hasBegun,
  decideWhole: async (_: unknown, decision: string) => {
    asked.push(`${decision} in ${name}`);
    return change;
  }
});

it.each([
  ['that in which the person has begun', [{ hasBegun: false }, { hasBegun: true }], 'approve in 1'],
  ['the first that shows the change', [{ shows: false }, {}, {}], 'approve in 1'],
  ['none, where it is not open', [{ shows: false }], 'approve in none']
])('decides in the document: %s', async (_, documents, expected) => {
  const asked: string[] = [];
  const reviews = documents.map((is, at) => reviewOf(String(at), asked, is));
  const standing = async () => ({ change, changed_since: [] });
  const begun = new BegunReviews({ standing }, { has: () => false }, () => reviews, reviewOf('none', asked));
  expect(begun.has('p')).toBe(documents.some(is => 'hasBegun' in is && is.hasBegun));
  await begun.decide('p', 'approve');
  expect(asked).toEqual([expected]);
});
