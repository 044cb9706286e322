/** Shows a whole change in the main area, with buttons to decide about it. */

import { MainAreaWidget } from '@jupyterlab/apputils';
import { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import type { Decision, IFileSides } from '../feed/requests';
import type { IDecisionParts } from '../panel/decideEverything';
import type { Change, ChangedSince, FileDiff } from '../payloads';
import type { IComparisonStyle } from './comparison';
import type { IDiffParts } from './diffParts';

import { actionButton, element } from '../element';
import { filesOf } from '../feed/changedFiles';
import { StandingLook } from '../feed/soon';
import { Comparison } from './comparison';
import { createDiffView, createStaleView } from './diffView';
import { decide } from '../panel/decideEverything';
import { NotebookComparison } from './notebookComparison';
import { alignedCells, cellsIn } from './notebookSides';
import { hidesRows } from './showAll';

/** Parts that a comparison of a change works with. */
export type IChangeParts = IDiffParts & IDecisionParts;

interface IOffer {
  name: string;
  label: string;
  /** Set for toggle buttons only. */
  isPressed?: boolean;
  act(): void;
}

/** Follows one change: draws it again once somebody decides about it or its file is modified. */
export class ChangeComparison extends MainAreaWidget<Panel> {
  constructor(
    readonly changeId: string,
    private _parts: IChangeParts
  ) {
    super({ content: new Panel() });
    this.addClass('jp-fstools-ChangeComparison');
    this.content.addClass('jp-fstools-DiffView');
    this.content.node.tabIndex = 0;
    this.content.node.addEventListener('scroll', () => this._noteSeen());
    this.title.closable = true;
    this.title.label = _parts.trans.__('Change');
    _parts.feed.heard.connect(this._onHeard, this);
    _parts.feed.changed.connect(this._onChanged, this);
    _parts.feed.typedOver.connect(this._onTypedOver, this);
    window.addEventListener('focus', this._onFocus);
    this.disposed.connect(() => {
      window.removeEventListener('focus', this._onFocus);
      this._sizes.disconnect();
      this._look.dispose();
      Signal.disconnectReceiver(this);
    });
    void this._load();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._look.ask();
  }

  /** Check again, as the person may have changed the file in another program. */
  private _onFocus = (): void => {
    if (this.isVisible) {
      this._look.ask();
    }
  };

  private _onHeard(_: unknown, paths: readonly string[] | null): void {
    const { _change: change } = this;
    if (paths === null || (change && filesOf(change).some(({ path }) => paths.includes(path)))) {
      void this._load();
    }
  }

  /** Offer other decisions as soon as a document of this page finds a proposal stale; the server learns it later. */
  private _onChanged(): void {
    const { _change: change } = this;
    const isTypedOver = this._parts.feed.staleHere.has(this.changeId);
    if (change?.status === 'proposed' && isTypedOver !== this._wasTypedOver) {
      this._wasTypedOver = isTypedOver;
      this._offer(change);
      this._look.ask();
    }
  }

  private _onTypedOver(_: unknown, ids: ReadonlySet<string>): void {
    if (ids.has(this.changeId) && this.isVisible) {
      this._look.ask();
    }
  }

  private get _isStale(): boolean {
    return this._since.length > 0 || this._parts.feed.staleHere.has(this.changeId);
  }

  private async _load(): Promise<void> {
    const { server, words, trans, feed } = this._parts;
    try {
      const { change, changed_since } = await server.standing(this.changeId);
      const shown = JSON.stringify([change.status, changed_since]);
      if (!this.isDisposed && shown !== this._shown) {
        // The server lets a person approve what it has sent them in full.
        const [whole, sides] = await Promise.all([
          change.status === 'proposed' ? server.whole(change) : change,
          changed_since.length ? [] : server.sides(change.id).catch(() => [])
        ]);
        if (this.isDisposed) {
          return;
        }
        this._sides = sides;
        this._since = changed_since;
        this._shown = shown;
        this.title.label = trans.__('Change of %1', change.path.split('/').at(-1)!);
        this.title.caption = `${change.path} · ${change.session}`;
        this._draw(whole);
      }
      this._change = change;
      this._wasTypedOver = feed.staleHere.has(change.id);
      this._offer(change);
      const isUntold = feed.staleHere.has(change.id) && !changed_since.length;
      if (change.status === 'proposed' && isUntold && this.isVisible) {
        this._look.askAgain(); // The server does not know yet what was typed in the document's page.
      }
    } catch (error) {
      // Keep what is already shown: the person may be reading it.
      if (!this._change) {
        this._show([note(words.problem(error))]);
      }
    }
  }

  private _draw(change: Change): void {
    this._isCut = false;
    const views = filesOf(change).flatMap(({ path, diff }) => {
      const sides = this._sides.find(side => side.path === path);
      const since = this._since.find(one => one.path === path);
      return [heading(path), ...(since ? [createStaleView(diff, since, this._parts)] : this._compared(diff, sides))];
    });
    this._show(views);
  }

  /** Both sides in full where they are still known, else the hunks. */
  private _compared(diff: FileDiff, sides: IFileSides | undefined): Widget[] {
    const { languages, trans } = this._parts;
    const [before, after] = sides && diff.kind === 'notebook' ? [cellsIn(sides.old), cellsIn(sides.new)] : [];
    const cells = before && after ? alignedCells(before, after) : null;
    if (cells) {
      const compared = new NotebookComparison(cells, diff.language ?? '', this._style, this._parts);
      this._isCut ||= diff.truncated && diff.hunks.length > 0;
      // These hunks are of the notebook's own metadata, such as its kernel.
      return diff.hunks.length ? [createDiffView({ ...diff, cells: [] }, this._parts), compared] : [compared];
    }
    if (!sides || (before && after)) {
      this._isCut ||= diff.truncated;
      return [createDiffView(diff, this._parts)];
    }
    const [old, now] = [sides.old ?? '', sides.new ?? ''];
    const language = { path: diff.path };
    return [new Comparison({ ...this._style, old, new: now, name: diff.path, language, languages, trans })];
  }

  private _show(widgets: readonly Widget[]): void {
    [...this.content.widgets].forEach(widget => widget.dispose());
    this._sizes.disconnect();
    for (const widget of widgets) {
      this.content.addWidget(widget);
      this._sizes.observe(widget.node);
    }
  }

  /** Record a waiting change as shown once the person has scrolled to its end and all of it is drawn. */
  private _noteSeen(): void {
    const { node, widgets } = this.content;
    const isAtEnd = node.clientHeight > 0 && node.scrollTop + node.clientHeight >= node.scrollHeight - 2;
    const isThere = widgets.every(
      one => !(one instanceof Comparison || one instanceof NotebookComparison) || one.isDrawn
    );
    if (this._change?.status === 'proposed' && isAtEnd && isThere && !this._isCut && !hidesRows(node)) {
      this._parts.feed.noteShown(this._change.id);
    }
  }

  /** Make one toolbar item per button, so that the toolbar can fold those that do not fit; reuse existing items. */
  private _offer(change: Change): void {
    const offers = [...this._decisions(change), ...(this._sides.length ? this._toggles(change) : [])];
    for (const [name, item] of this._items) {
      if (!offers.some(offer => offer.name === name)) {
        this._items.delete(name);
        item.dispose();
      }
    }
    offers.forEach(({ name, label, isPressed, act }, index) => {
      const item = this._items.get(name) ?? this._added(index, name, label);
      const button = item.node.firstElementChild as HTMLButtonElement;
      button.onclick = act;
      if (isPressed !== undefined) {
        button.setAttribute('aria-pressed', String(isPressed));
      }
    });
  }

  private _decisions(change: Change): IOffer[] {
    const { trans, user } = this._parts;
    const decision = (name: Decision, label: string): IOffer => ({
      name,
      label,
      act: () => void this._decide(name)
    });
    if (change.status === 'proposed') {
      const approve = this._isStale ? [] : [decision('approve', trans.__('Approve'))];
      return [...approve, decision('reject', trans.__('Reject'))];
    }
    if (change.status !== 'applied') {
      return [];
    }
    const keep = change.seen_by.includes(user()) ? [] : [decision('keep', trans.__('Keep'))];
    return [...keep, ...(change.undoable ? [decision('undo', trans.__('Undo'))] : [])];
  }

  private _toggles(change: Change): IOffer[] {
    const { trans } = this._parts;
    const { layout, isUnfolded } = this._style;
    const toggle = (name: string, label: string, isPressed: boolean, other: Partial<IComparisonStyle>): IOffer => ({
      name,
      label,
      isPressed,
      act: () => {
        this._style = { ...this._style, ...other };
        this._draw(change);
        this._offer(change);
      }
    });
    const isBeside = layout === 'side-by-side';
    return [
      toggle('side-by-side', trans.__('Side by side'), isBeside, { layout: isBeside ? 'unified' : 'side-by-side' }),
      toggle('unfold', trans.__('All lines'), isUnfolded, { isUnfolded: !isUnfolded })
    ];
  }

  private _added(index: number, name: string, label: string): Widget {
    const button = actionButton(name, label);
    const item = new Widget();
    item.node.append(button);
    this._items.set(name, item);
    this.toolbar.insertItem(index, name, item);
    return item;
  }

  private async _decide(decision: Decision): Promise<void> {
    const hadKeyboard = this.node.contains(document.activeElement);
    this._problem?.dispose();
    this._problem = null;
    try {
      this._parts.feed.note(await decide(this._parts, decision, this.changeId));
    } catch (error) {
      this._problem = note(this._parts.words.problem(error));
    }
    await this._load();
    if (this._problem) {
      this.content.insertWidget(0, this._problem);
    }
    if (hadKeyboard && !this.isDisposed && document.activeElement === document.body) {
      // The pressed button is gone.
      this.activate();
    }
  }

  private _look = new StandingLook(() => this._load());
  private _wasTypedOver = false;
  private _sizes = new ResizeObserver(() => this._noteSeen());
  /** Whether only a part of the change is shown. */
  private _isCut = false;
  private _items = new Map<string, Widget>();
  private _problem: Widget | null = null;
  private _change: Change | null = null;
  private _since: readonly ChangedSince[] = [];
  private _shown = '';
  private _sides: readonly IFileSides[] = [];
  private _style: IComparisonStyle = { layout: 'side-by-side', isUnfolded: false };
}

function heading(text: string): Widget {
  return new Widget({ node: element('h2', 'jp-fstools-ChangeComparison-path', text) });
}

function note(text: string): Widget {
  const said = new Widget({ node: element('p', 'jp-fstools-Diff-note', text) });
  said.node.setAttribute('role', 'alert');
  return said;
}
