/** Follows one open document's changes, and carries out what a person decides about them there. */

import type { DocumentWidget, IDocumentWidget } from '@jupyterlab/docregistry';
import type { IDisposable } from '@lumino/disposable';

import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { Signal } from '@lumino/signaling';

import type { Decision } from '../feed/requests';
import type { IActivityFeed } from '../feed/tokens';
import type { Change } from '../payloads';
import type { IDecisionDetail } from './decisions';
import type { IReviewView } from './reviewView';

import { isOf } from '../feed/changedFiles';
import { Soon } from '../feed/soon';
import { ChangeSteps } from './changeSteps';
import { Decider, type IDeciderParts } from './decider';
import { changesToSee, type IFileChanges } from './fileChanges';
import { HunkMarks, type IBegun } from './hunkMarks';
import { type IOpenNotebook, NotebookReview } from './notebookReview';
import { type BarDecision, ReviewBar } from './reviewBar';
import { StaleProposals } from './staleProposals';
import { TextReview } from './textReview';
import type { UnseenChanges } from './unseenChanges';

const LOOK_AT_MOST_EVERY = 300;

/** Parts that a review works with. */
export interface IReviewParts extends IDeciderParts {
  unseen: UnseenChanges;
  feed: Pick<IActivityFeed, 'noteStale'>;
  /** Go on in the next or previous document with changes, beyond the last change of this one. */
  leave(path: string, by: 1 | -1): void;
  /** Draw all documents again after a decision. */
  decided(): void;
  /** Show a whole change in the main area. */
  compare(id: string): void;
}

/** Follows one document until it is closed. */
export class DocumentReview implements IDisposable {
  constructor(
    private _widget: IDocumentWidget,
    private _parts: IReviewParts
  ) {
    const { context } = _widget;
    this.bar = new ReviewBar(
      {
        decideAll: decision => void this.decideAll(decision),
        step: by => this.step(by),
        compare: id => this._parts.compare(id),
        dismiss: () => this._dismiss()
      },
      _parts.trans
    );
    // Not into the toolbar itself: where that is narrow, it hides its last items behind a button.
    (_widget as DocumentWidget).contentHeader.addWidget(this.bar);
    this._look = new Soon(() => this._load(), LOOK_AT_MOST_EVERY);
    this._stale = new StaleProposals(
      _parts.server,
      () => this._view,
      () => this.draw(),
      _parts.trans
    );
    this._decider = new Decider(_parts, () => this._view);
    this._marks = new HunkMarks({
      trans: _parts.trans,
      decider: this._decider,
      node: _widget.node,
      user: () => _parts.unseen.user,
      staleAt: (change, names) => this._stale.at(change, names),
      mayUndo: change => this._mayUndo(change),
      decide: (change, names, decision, detail) =>
        void this._once(JSON.stringify([change.id, names, decision, detail]), () =>
          this._decide(change, names, decision, detail)
        ),
      compare: id => _parts.compare(id)
    });
    context.model.contentChanged.connect(this._onContent, this);
    context.pathChanged.connect(this.look, this);
    _widget.disposed.connect(this.dispose, this);
    void context.ready.then(() => this.look());
  }

  readonly bar: ReviewBar;

  /** The document's path below the tools' root; null if it lies outside. */
  get path(): string | null {
    return this._parts.unseen.toolsPath(this._widget.context.path);
  }

  get isDisposed(): boolean {
    return this._look.isDisposed;
  }

  dispose(): void {
    this._parts.feed.noteStale(this, new Set());
    this._look.dispose();
    this._stale.dispose();
    this._view?.dispose();
    Signal.disconnectReceiver(this);
  }

  /** Ask the server for the document's changes, soon. */
  look(): void {
    this._look.ask();
  }

  /** Go on from where the person is to the next or previous change; beyond the last one, to another document. */
  step(by: 1 | -1): void {
    if (!this._steps.go(by) && this.path !== null) {
      this._parts.leave(this.path, by);
    }
  }

  /** Go to the first change, or to the last one when stepping back from another document; false if there is none. */
  async enter(by: 1 | -1): Promise<boolean> {
    await this._widget.context.ready;
    await this._load();
    return this._steps.enter(by);
  }

  private async _load(): Promise<void> {
    const { server, unseen } = this._parts;
    const { path } = this;
    if (path === null || this.isDisposed) {
      return;
    }
    try {
      this._known = await changesToSee(server, path, unseen.user);
      this._loaded++;
    } catch {
      return; // The panel tells that the server cannot be reached; keep the changes shown here.
    }
    this.draw();
  }

  private _onContent(): void {
    this._edits++;
    if (this._changes.length && !this._isDrawing) {
      this._isDrawing = true;
      requestAnimationFrame(() => this.draw());
    }
  }

  /** Draw the known changes; also called when something outside the document has changed. */
  draw(): void {
    this._isDrawing = false;
    if (this.isDisposed) {
      return;
    }
    this._view ??= this._createView();
    this._view?.draw(this._changes);
    const stale = new Set(this._known.waiting.filter(change => this._stale.has(change)).map(({ id }) => id));
    this._parts.feed.noteStale(this, stale);
    this.bar.tell({
      waiting: this._known.waiting,
      made: this._there,
      gone: this._known.made.length - this._there.length,
      stale: stale.size,
      approvable: this._meant('approve').length,
      unshown: this._known.waiting.find(change => !this._isShown(change)) ?? null,
      elsewhere: this._elsewhere.length,
      problem: this._decider.problem
    });
    this._stale.follow(this._known.waiting, this._loaded, this._edits);
  }

  private _dismiss(): void {
    this._decider.problem = '';
    void this._keepKeyboard(() => this.draw());
  }

  private _createView(): IReviewView | null {
    const content = this._widget.content as unknown as Partial<IOpenNotebook> & { editor?: unknown };
    if (content.editor instanceof CodeMirrorEditor) {
      return new TextReview(content.editor, this._marks);
    }
    const isNotebook = content.widgets && content.activeCellIndex !== undefined;
    return isNotebook ? new NotebookReview(content as IOpenNotebook, this._marks, this._parts.trans) : null;
  }

  private async _decide(
    change: Change,
    names: readonly string[],
    decision: Decision,
    detail: IDecisionDetail
  ): Promise<void> {
    const act = async () => {
      if (names.length > 1) {
        this.noteBegun(decision, [change], names);
      }
      await this._decider.decide(change, names, decision, detail);
      this._parts.decided();
      await this._load();
    };
    await this._keepKeyboard(act, () => this._marks.button(change, names, decision));
  }

  /** Act, and keep the focus in the document, though the pressed button is redrawn (then `again`) or removed. */
  private async _keepKeyboard(
    act: () => Promise<void> | void,
    again: () => HTMLElement | null = () => null
  ): Promise<void> {
    const hadKeyboard = this._widget.node.contains(document.activeElement);
    await act();
    if (hadKeyboard && !this.isDisposed && document.activeElement === document.body) {
      const button = again();
      if (button) {
        button.focus({ preventScroll: true });
      } else {
        this._widget.content.activate();
      }
    }
  }

  /** Decide about all waiting or applied changes of the document; for a session, also about those in other files. */
  async decideAll(decision: BarDecision): Promise<void> {
    const act = async () => {
      const meant = this._meant(decision);
      this.noteBegun(decisionOf(decision), meant);
      await this._decider.decideAll(meant, decisionOf(decision), this._others(decision));
      await this._load();
    };
    await this._once(decision, () => this._keepKeyboard(act));
  }

  /** Whether the document shows this waiting change, as no preview does. */
  shows(id: string): boolean {
    return this._known.waiting.some(change => change.id === id && this._isShown(change));
  }

  /** Whether the person has begun to write at a hunk of a change; an empty field, or an unchanged text, is nothing. */
  hasBegun(id: string): boolean {
    const isText = ({ text, proposed }: IBegun) => text !== null && text !== proposed;
    return this._marks.begun.some(draft => draft.change.id === id && (isText(draft) || draft.reason.trim() !== ''));
  }

  /** Decide about one waiting change from outside of the document; throws if the server refuses. */
  async decideWhole(change: Change, decision: Decision): Promise<Change> {
    try {
      return await this._decider.decideWhole(change, decision);
    } finally {
      await this._load();
    }
  }

  /** Let what the person has begun to write at hunks count when these are decided together with others. */
  noteBegun(decision: Decision, changes: readonly Change[], among?: readonly string[]): void {
    for (const { change, names, reason, text, proposed } of this._marks.begun) {
      const isMeant = changes.some(({ id }) => id === change.id) && names.every(name => among?.includes(name) ?? true);
      // A rejected hunk whose text was only opened stays rejected, save with others that are approved by name.
      const isRejected = !among && text === proposed && this._decider.taken(change, names) === false;
      if (isMeant && decision === 'approve' && text !== null && proposed !== null && !isRejected) {
        this._decider.note(change, names, true, { text: text === proposed ? undefined : text });
      } else if (isMeant && decision === 'reject' && reason.trim()) {
        this._decider.note(change, names, false, { reason: reason.trim() });
      }
    }
  }

  /** Carry out a press, unless it repeats one that is not carried out and drawn yet, as with a double click. */
  private async _once(press: string, carryOut: () => Promise<void>): Promise<void> {
    if (press === this._pressed) {
      return;
    }
    this._pressed = press;
    try {
      await carryOut();
    } finally {
      this._pressed = this._pressed === press ? '' : this._pressed;
    }
  }

  /** Whether there is anything to decide about, or any change to step to. */
  offers(action: BarDecision | 'step'): boolean {
    return action === 'step'
      ? this._changes.length + this._parts.unseen.paths.length > 0
      : this._meant(action).length + this._others(action).length > 0;
  }

  /** Changes of other files that a decision is about, too. */
  private _others(decision: BarDecision): Change[] {
    return decisionOf(decision) === decision ? [] : this._elsewhere;
  }

  private _meant(decision: BarDecision): Change[] {
    const does = decisionOf(decision);
    if (does === 'approve') {
      return this._known.waiting.filter(change => !this._stale.has(change) && this._isShown(change));
    }
    // Changes of which the document no longer contains anything cannot be undone.
    return does === 'reject' ? this._known.waiting : does === 'undo' ? this._there : this._known.made;
  }

  /** The applied changes of which the document still contains a part. */
  private get _there(): Change[] {
    return this._known.made.filter(({ id }) => !this._view?.gone.has(id));
  }

  /** Applied changes in other files, by the sessions that changed this document. */
  private get _elsewhere(): Change[] {
    const sessions = new Set(this._known.made.map(({ session }) => session));
    const path = this.path ?? '';
    return this._parts.unseen.changes.filter(
      change => change.status === 'applied' && !isOf(change, path) && sessions.has(change.session)
    );
  }

  /** Whether the view shows a proposal, as no preview does: nobody may approve a change that they are not shown. */
  private _isShown(change: Change): boolean {
    return this._view?.shows(change) ?? false;
  }

  /** Whether undo is offered: below a later change, some parts may still be as this change made them. */
  private _mayUndo(change: Change): boolean {
    return change.id !== this._known.newest || change.undoable;
  }

  private get _changes(): Change[] {
    return [...this._known.waiting, ...this._known.made];
  }

  private _look: Soon;
  private _stale: StaleProposals;
  private _decider: Decider;
  private _marks: HunkMarks;
  private _steps = new ChangeSteps(() => this._view);
  private _view: IReviewView | null = null;
  private _known: IFileChanges = { waiting: [], made: [], newest: '' };
  /** How often the changes were loaded, as they are whenever the server tells of one of their files. */
  private _loaded = 0;
  /** How often the document was modified. */
  private _edits = 0;
  private _isDrawing = false;
  private _pressed = '';
}

function decisionOf(decision: BarDecision): Decision {
  return decision.replace('-session', '') as Decision;
}
