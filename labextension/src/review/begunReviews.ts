/** Decides about whole proposals of which a person has decided parts in a document. */

import { Token } from '@lumino/coreutils';

import type { ToolsServer } from '../feed/requests';
import type { Change } from '../payloads';
import type { Decider } from './decider';
import type { DocumentReview } from './documentReview';
import type { KeptDecisions } from './keptDecisions';

import { inFile } from './fileChanges';

/** What a person has decided, or begun to write, at parts of proposals in documents of this page. */
export interface IBegunReviews {
  /** Whether there is any about a proposal. */
  has(id: string): boolean;
  /** Decide about the rest of a proposal; approved with it are only the parts that the person did not reject. */
  decide(id: string, decision: 'approve' | 'reject'): Promise<Change>;
}

export const IBegunReviews = new Token<IBegunReviews>(
  'jupyter-fstools:IBegunReviews',
  'Parts of proposals that a person has decided about in documents.'
);

/** Knows the documents that are open now, and the decisions that outlast them. */
export class BegunReviews implements IBegunReviews {
  /**
   * @param _reviews - of the open documents.
   * @param _elsewhere - decides about proposals whose document is not open.
   */
  constructor(
    private _server: Pick<ToolsServer, 'standing' | 'whole'>,
    private _decisions: Pick<KeptDecisions, 'has'>,
    private _reviews: () => Iterable<Pick<DocumentReview, 'hasBegun' | 'noteBegun' | 'shows' | 'decideWhole'>>,
    private _elsewhere: Pick<Decider, 'decideWhole'>
  ) {}

  has(id: string): boolean {
    return this._decisions.has(id) || [...this._reviews()].some(review => review.hasBegun(id));
  }

  async decide(id: string, decision: 'approve' | 'reject'): Promise<Change> {
    const { change } = await this._server.standing(id);
    // A cut diff has fewer hunks than those that the person decided about.
    const [whole] = inFile(await this._server.whole(change), change.path);
    const reviews = [...this._reviews()];
    const begun = reviews.filter(review => review.hasBegun(id));
    begun.forEach(review => review.noteBegun(decision, [whole]));
    const review = begun.at(0) ?? reviews.find(one => one.shows(id)) ?? this._elsewhere;
    return review.decideWhole(whole, decision);
  }
}
