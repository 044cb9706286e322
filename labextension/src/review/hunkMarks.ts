/** Makes the marks and buttons of hunks in one open document. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Decision } from '../feed/requests';
import type { CellDiff, Change } from '../payloads';
import type { Decider } from './decider';
import type { IDecisionDetail } from './decisions';
import type { IInlineMark } from './inlineMarks';
import type { IPlacedHunk } from './placedHunks';
import type { IMarker, IShownBeside } from './reviewView';

import { isUnnamed } from './cellMarks';
import { hunkName, isDivisible, isKept } from './decisions';
import { hunkControls, type IDraft } from './hunkControls';
import { textOf } from './placedHunks';

/** What marks and buttons need of the document's review. */
export interface IHunkMarksParts {
  trans: TranslationBundle;
  decider: Pick<Decider, 'taken' | 'text'>;
  /** The document's element; all its marks are inside. */
  node: HTMLElement;
  /** The person's name. */
  user(): string;
  /** Where any of these hunks no longer fits, in words; empty if all fit. */
  staleAt(change: Change, names: readonly string[]): string;
  mayUndo(change: Change): boolean;
  decide(change: Change, names: readonly string[], decision: Decision, detail: IDecisionDetail): void;
  /** Show a whole change in the main area. */
  compare(id: string): void;
}

/** A draft, and the hunks that it is about. */
export interface IBegun extends IDraft {
  change: Change;
  names: readonly string[];
  /** The text that is proposed; null where there is none to edit. */
  proposed: string | null;
}

/** Also remembers which hunks show their old lines, and what the person has begun to write. */
export class HunkMarks implements IMarker {
  constructor(private _parts: IHunkMarksParts) {}

  isKept(change: Change, name: string): boolean {
    return isKept(change, this._parts.user(), name);
  }

  // Without the change's revision: after a decision about another part, a button would be redrawn while it is pressed.
  key(change: Change, name: string): string {
    const { decider, mayUndo, staleAt } = this._parts;
    const decided = [decider.taken(change, [name]), decider.text(change, [name])];
    return [change.id, name, ...decided, mayUndo(change), staleAt(change, [name])].join(' ');
  }

  mark(change: Change, hunk: IPlacedHunk, cell: CellDiff | null): IInlineMark {
    const name = hunkName(hunk.position, cell?.cell_id);
    const waits = change.status === 'proposed';
    // The server cannot tell whether the text of a cell without an id of its own is still the one that was edited.
    const isEditable = waits && !hunk.isLoose && !(cell && isUnnamed(cell));
    const proposed = isEditable ? textOf([hunk.hunk], 'new') : null;
    const hasOld = hunk.hunk.rows.some(row => row.kind === 'remove');
    const id = hunkId(change, [name]);
    return {
      key: this.key(change, name),
      id,
      placed: hunk,
      waits,
      isOldShown: () => this._oldShown.has(id),
      controls: () => this.controls(change, [name], { note: '', proposed, hasOld, movedOn: false })
    };
  }

  controls(change: Change, names: readonly string[], shown: IShownBeside): HTMLElement {
    const { trans, decider, staleAt, mayUndo, decide, compare } = this._parts;
    const id = hunkId(change, names);
    const stale = staleAt(change, names);
    const several = change.files.length > 1 ? trans.__('one of %1 files', change.files.length) : '';
    return hunkControls(
      {
        id,
        old: shown.hasOld ? { isShown: this._oldShown.has(id), toggle: () => this._toggleOld(id) } : null,
        change,
        isPart: isDivisible(change),
        note: [shown.note, several].filter(Boolean).join(', '),
        proposed: change.files.length > 1 || stale ? null : shown.proposed,
        stale,
        taken: decider.taken(change, names),
        written: decider.text(change, names),
        undoable: mayUndo(change) && !shown.movedOn,
        draft: this._draft(id, change, names, shown.proposed),
        decide: (decision, detail) => {
          this._drafts.delete(id);
          decide(change, names, decision, detail);
        },
        compare: () => compare(change.id)
      },
      trans
    );
  }

  /** The drafts of all hunks that were drawn, empty ones too. */
  get begun(): IBegun[] {
    return [...this._drafts.values()];
  }

  /** The button for a decision about these hunks, as it is drawn now. */
  button(change: Change, names: readonly string[], decision: Decision): HTMLElement | null {
    const row = this._parts.node.querySelector(`[data-hunk="${CSS.escape(hunkId(change, names))}"]`);
    return row?.querySelector<HTMLElement>(`[data-action="${decision}"]`) ?? null;
  }

  /** Show or hide a hunk's old lines, at each place that it changed. */
  private _toggleOld(id: string): boolean {
    const isShown = !this._oldShown.delete(id);
    if (isShown) {
      this._oldShown.add(id);
    }
    const old = this._parts.node.querySelectorAll<HTMLElement>(`[data-old-of="${CSS.escape(id)}"]`);
    for (const lines of old) {
      lines.hidden = !isShown;
    }
    return isShown;
  }

  /** The draft at some hunks: an editor forgets the fields that are scrolled out of sight. */
  private _draft(id: string, change: Change, names: readonly string[], proposed: string | null): IBegun {
    const known = this._drafts.get(id) ?? { reason: '', text: null };
    const draft = Object.assign(known, { change, names, proposed });
    this._drafts.set(id, draft);
    return draft;
  }

  private _oldShown = new Set<string>();
  private _drafts = new Map<string, IBegun>();
}

/** The key by which the buttons of hunks are found again after they were redrawn. */
function hunkId({ id }: Change, names: readonly string[]): string {
  return [id, ...names].join(' ');
}
