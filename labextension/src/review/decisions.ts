/** Collects what a person decides hunk by hunk until a change is decided as a whole. */

import type { CellDiff, Change } from '../payloads';

/** Positions of hunks as the server takes them; by cell id for a notebook. */
export type Hunks = number[] | Record<string, number[]>;

/** A person's additions to a decision: the reason, and a text to write instead of the proposed one. */
export interface IDecisionDetail {
  reason?: string;
  text?: string;
}

/** A decision about one hunk, as it is kept. */
export interface IDecided extends IDecisionDetail {
  name: string;
  isTaken: boolean;
}

/** The name of a hunk: its position, behind its cell's id in a notebook. */
export function hunkName(position: number, cell = ''): string {
  return JSON.stringify([cell, position]);
}

/** A hunk's cell and position, by its name. */
export function namedHunk(name: string): [cell: string, position: number] {
  return JSON.parse(name) as [string, number];
}

/** The names of the hunks of a cell; a cell that is decided as a whole has one. */
export function hunksOfCell(cell: CellDiff): string[] {
  const count = cell.action === 'edit' && cell.hunks.length ? cell.hunks.length : 1;
  return Array.from({ length: count }, (_, position) => hunkName(position, cell.cell_id));
}

/** The names of all hunks of a change; a change without hunks, e.g. of an empty file, has one name. */
export function hunksOf({ diff }: Change): string[] {
  const names =
    diff.cells === null ? diff.hunks.map((_, position) => hunkName(position)) : diff.cells.flatMap(hunksOfCell);
  return names.length ? names : [hunkName(0)];
}

/** Whether the parts of a change can be decided about one by one. */
export function isDivisible({ files, diff: { op, cells, hunks } }: Change): boolean {
  // Called for each hunk that is drawn, so it does not build the names of thousands.
  const hasSeveral = cells === null ? hunks.length > 1 : cells.length > 1 || cells.flatMap(hunksOfCell).length > 1;
  return files.length < 2 && op !== 'delete' && op !== 'create' && hasSeveral;
}

/** Converts the names of hunks to the form that the server takes. */
export function asHunks(change: Change, names: readonly string[]): Hunks {
  const parsed = names.map(namedHunk);
  if (change.diff.cells === null) {
    return parsed.map(([, position]) => position);
  }
  const cells: Record<string, number[]> = {};
  parsed.forEach(([cell, position]) => (cells[cell] ??= []).push(position));
  return cells;
}

/** Whether a user has already kept a hunk of a change. */
export function isKept(change: Change, user: string, name: string): boolean {
  const kept = change.kept[user] ?? [];
  const [cell, position] = namedHunk(name);
  return (Array.isArray(kept) ? kept : (kept[cell] ?? [])).includes(position);
}

/** Decisions so far about the hunks of one change. */
export class Decisions {
  constructor(readonly change: Change) {}

  /** Decisions as they were told. */
  static from(change: Change, told: readonly IDecided[]): Decisions {
    const made = new Decisions(change);
    told.forEach(({ name, isTaken, ...detail }) => made.decide([name], isTaken, detail));
    return made;
  }

  /** Approve or reject hunks; true once all hunks of the change are decided. */
  decide(names: readonly string[], isTaken: boolean, { reason, text }: IDecisionDetail = {}): boolean {
    for (const name of names) {
      // Hunks that are approved together stay as the person edited them.
      if (!isTaken || names.length === 1) {
        this.texts.delete(name);
      }
      if (isTaken && text !== undefined) {
        this.texts.set(name, text);
      }
      // A decision that is made again keeps its reason: the field for it is drawn empty.
      if (reason || this._taken.get(name) !== isTaken) {
        this._reasons.set(name, reason);
      }
      this._taken.set(name, isTaken);
    }
    return hunksOf(this.change).every(one => this._taken.has(one));
  }

  /** A copy that can be changed independently. */
  copy(): Decisions {
    return Decisions.from(this.change, this.told);
  }

  /** Each decision so far. */
  get told(): IDecided[] {
    return [...this._taken].map(([name, isTaken]) => ({
      name,
      isTaken,
      reason: this._reasons.get(name),
      text: this.texts.get(name)
    }));
  }

  /** Whether a hunk was approved (true) or rejected (false); undefined while undecided. */
  of(name: string): boolean | undefined {
    return this._taken.get(name);
  }

  get taken(): string[] {
    return hunksOf(this.change).filter(name => this._taken.get(name));
  }

  get reason(): string | undefined {
    return [...new Set(this._reasons.values())].filter(Boolean).join(' ') || undefined;
  }

  /** Texts that the person wrote in place of hunks, by the hunks' names. */
  readonly texts = new Map<string, string>();

  private _taken = new Map<string, boolean>();
  private _reasons = new Map<string, string | undefined>();
}
