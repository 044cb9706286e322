/** Collects what a person decides hunk by hunk until a change is decided as a whole. */

import type { Change } from '../payloads';

/** What the server is sent about the hunks of a change. */
export type Hunks = number[] | Record<string, number[]>;

/** The name of a hunk: its position, behind its cell's id in a notebook. */
export function hunkName(position: number, cell = ''): string {
  return JSON.stringify([cell, position]);
}

/** The names of all hunks of a change; a cell that is taken or left as a whole has one. */
export function hunksOf({ diff }: Change): string[] {
  if (diff.cells === null) {
    return diff.hunks.map((_, position) => hunkName(position));
  }
  return diff.cells.flatMap(cell => {
    const count = cell.action === 'edit' && cell.hunks.length ? cell.hunks.length : 1;
    return Array.from({ length: count }, (_, position) => hunkName(position, cell.cell_id));
  });
}

/** Names as the server takes them. */
export function asHunks(change: Change, names: readonly string[]): Hunks {
  const parsed = names.map(name => JSON.parse(name) as [string, number]);
  if (change.diff.cells === null) {
    return parsed.map(([, position]) => position);
  }
  const cells: Record<string, number[]> = {};
  parsed.forEach(([cell, position]) => (cells[cell] ??= []).push(position));
  return cells;
}

/** What is decided of one change so far. */
export class Decisions {
  constructor(readonly change: Change) {}

  /** Approve or reject a hunk; true once all of them are decided. */
  decide(name: string, isTaken: boolean): boolean {
    this._taken.set(name, isTaken);
    return hunksOf(this.change).every(one => this._taken.has(one));
  }

  /** What was decided of a hunk; undefined for nothing yet. */
  of(name: string): boolean | undefined {
    return this._taken.get(name);
  }

  get taken(): string[] {
    return hunksOf(this.change).filter(name => this._taken.get(name));
  }

  private _taken = new Map<string, boolean>();
}
