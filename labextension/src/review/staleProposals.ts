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
    const stale = this._view()?.stale.get(change.id);
    const isHere = stale !== undefined && (!isDivisible(change) || names.some(name => stale.has(name)));
    const files = this._files(change);
    if (!isHere && !files.length) {
      return '';
    }
    return isHere || change.files.length < 2 || files.includes(change.path)
      ? this._trans.__('out of date: it no longer fits here')
      : this._trans.__('out of date: it no longer fits %1', files.join(', '));
  }

  /**
   * Ask about the proposals that only the server can judge, and about those whose other files may change.
   *
   * @param loaded - how often the proposals were loaded, as they are whenever the server tells of one of their files.
   */
  follow(waiting: readonly Change[], loaded: number): void {
    const inView = this._view()?.doubts ?? new Map<string, string>();
    const ofFiles = waiting.filter(({ files }) => files.length > 1);
    const asked = ofFiles.map(({ id }) => [id, `${loaded} ${inView.get(id) ?? ''}`] as const);
    this._doubts.follow(new Map([...inView, ...asked]));
  }

  private _files({ id, files }: Change): readonly string[] {
    return files.length > 1 || this._view()?.doubts.has(id) ? this._doubts.staleFiles(id) : [];
  }

  private _doubts: Doubts;
}
