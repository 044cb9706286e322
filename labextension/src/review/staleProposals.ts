/** Tells which proposals no longer fit, by the document's view and by the server. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';

import type { ToolsServer } from '../feed/requests';
import type { Change } from '../payloads';
import type { IReviewView } from './reviewView';

import { isDivisible } from './decisions';
import { Doubts } from './doubts';

/** The proposals of one document that no longer fit it, or another one of their files. */
export class StaleProposals implements IDisposable {
  /**
   * @param answered - called after new answers of the server.
   */
  constructor(
    server: Pick<ToolsServer, 'standing'>,
    private _view: () => IReviewView | null,
    answered: () => void,
    private _trans: TranslationBundle
  ) {
    this._doubts = new Doubts(server, answered);
  }

  get isDisposed(): boolean {
    return this._doubts.isDisposed;
  }

  dispose(): void {
    this._doubts.dispose();
  }

  /** Whether a part of a proposal no longer fits: then the server would refuse to carry out all of it. */
  has(change: Change): boolean {
    return (this._view()?.stale.has(change.id) ?? false) || this._files(change).length > 0;
  }

  /** Where any of these hunks no longer fits; for a change that is decided as a whole, any of its hunks. */
  at(change: Change, names: readonly string[]): string {
    const isAbout = (some?: ReadonlySet<string>) =>
      some !== undefined && (!isDivisible(change) || names.some(name => some.has(name)));
    const isHere = isAbout(this._view()?.stale.get(change.id));
    const files = this._files(change);
    // The server answers for the whole proposal.
    const isMeant = isAbout(this._view()?.doubts.get(change.id)?.names) || this._isOfAll(change);
    if (!isHere && !(files.length && isMeant)) {
      return '';
    }
    return isHere || change.files.length < 2 || files.includes(change.path)
      ? this._trans.__('out of date: it no longer fits here')
      : this._trans.__('out of date: it no longer fits %1', files.join(', '));
  }

  /**
   * Ask about the proposals that only the server can judge, about those whose other files may change, and about one
   * more, because a file that is gone fits none of them.
   *
   * @param loaded - how often the proposals were loaded, as they are whenever the server tells of one of their files.
   * @param edits - how often the document was modified: what the server could not compare may fit again.
   */
  follow(waiting: readonly Change[], loaded: number, edits: number): void {
    const inView = [...(this._view()?.doubts ?? [])].map(([id, { about }]) => [id, about] as const);
    const known = new Map(inView);
    const first = waiting.find(({ diff }) => diff.op !== 'create');
    const ofFiles = waiting.filter(change => change === first || change.files.length > 1);
    const asked = ofFiles.map(({ id, path }) => {
      const isLost = this._doubts.hasLost(id, path);
      return [id, `${loaded} ${isLost ? edits : ''} ${known.get(id) ?? ''}`] as const;
    });
    this._first = first?.id ?? '';
    this._doubts.follow(new Map([...inView, ...asked]));
  }

  /** The files that a proposal does not fit by the server's answer, as far as that counts here. */
  private _files({ id, path, files }: Change): readonly string[] {
    if (files.length > 1 || this._view()?.doubts.has(id)) {
      return this._doubts.staleFiles(id);
    }
    return this._doubts.hasLost(this._first, path) ? [path] : [];
  }

  private _isOfAll({ path, files }: Change): boolean {
    return files.length > 1 || this._doubts.hasLost(this._first, path);
  }

  private _doubts: Doubts;
  private _first = '';
}
