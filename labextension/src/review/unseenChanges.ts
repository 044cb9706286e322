/** Follows the changes that a person has not seen yet, in all files. */

import type { Contents } from '@jupyterlab/services';

import { Token } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import { type IServerStatus, MOST_LISTED, type ToolsServer } from '../feed/requests';
import type { IActivityFeed } from '../feed/tokens';
import type { Change } from '../payloads';

import { filesOf, isOf } from '../feed/changedFiles';
import { isStepBack } from '../panel/commandText';
import { Soon } from '../feed/soon';
import { untilAnswered } from '../feed/untilAnswered';
import { contentsPath, type RootBelowContents, toolsPath } from '../paths';

const LOOK_AT_MOST_EVERY = 1000;

/** Whether a change is to be shown to a person in its document. */
export function isUnseen(change: Change, user: string): boolean {
  const isNew = change.status === 'applied' && !isStepBack(change);
  const isOfFiles = change.diff.op !== 'execute';
  return isOfFiles && (change.status === 'proposed' || (isNew && !change.seen_by.includes(user)));
}

/** Asks the server again whenever the feed reports a change, but not before the server has named the user. */
export class UnseenChanges {
  constructor(
    server: ToolsServer,
    feed: IActivityFeed,
    private _contents: Pick<Contents.IManager, 'driveName'>
  ) {
    const look = new Soon(async () => {
      const [waiting, made] = await Promise.all([server.waiting(), server.made()]);
      this._changes = [...waiting, ...made].filter(change => isUnseen(change, this._user));
      this._made = made;
      this.changed.emit();
    }, LOOK_AT_MOST_EVERY);
    this.greeted = untilAnswered(() => server.status()).then(
      status => {
        this._root = status.contents_path;
        this._user = status.user;
        feed.heard.connect(() => look.ask());
        look.ask();
        return status;
      },
      () => null
    );
  }

  /** Resolves once the server has told its status, with the user and the tools' root; to null if it refuses to. */
  readonly greeted: Promise<IServerStatus | null>;

  readonly changed = new Signal<this, void>(this);

  /** Unseen changes without their diffs: first waiting, then applied ones, each newest first. */
  get changes(): readonly Change[] {
    return this._changes;
  }

  /** The files of these changes, sorted. */
  get paths(): string[] {
    const files = this._changes.flatMap(filesOf);
    return [...new Set(files.map(({ path }) => path))].sort();
  }

  /** Whether there may be a change to compare. */
  get mayCompare(): boolean {
    return this._made === null || this._made.length + this._changes.length > 0;
  }

  /** Whether a change of a file may be undone; true while that is not known. */
  mayUndo(path: string): boolean {
    if (this._made === null || this._made.length >= MOST_LISTED) {
      return true;
    }
    const standing = this._made.filter(change => !isStepBack(change) && change.diff.op !== 'execute');
    return standing.find(change => isOf(change, path))?.undoable ?? false;
  }

  /** The current user; empty until known. */
  get user(): string {
    return this._user;
  }

  /** The tools' path of a document; null if it lies outside their root. */
  toolsPath(path: string): string | null {
    return toolsPath(path, this._root, this._contents);
  }

  /** The path of a file in JupyterLab; null if it is not visible there. */
  contentsPath(path: string): string | null {
    return contentsPath(path, this._root);
  }

  private _user = '';
  private _root: RootBelowContents = null;
  private _changes: readonly Change[] = [];
  private _made: readonly Change[] | null = null;
}

export type IUnseenChanges = UnseenChanges;

export const IUnseenChanges = new Token<IUnseenChanges>(
  'jupyter-fstools:IUnseenChanges',
  'Changes by assistants that the person has not seen yet.'
);
