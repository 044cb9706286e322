/** Draws a text's diff: numbered rows, changed words, colours of its language. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Parser } from '@lezer/common';

import { Widget } from '@lumino/widgets';

import {
  type DiffLine,
  type ICodeLine,
  type IFold,
  type IReplacement,
  isCode,
  linesOf,
  replacementsIn,
  sidesOf
} from './diffLines';
import { element } from '../element';
import { Pace } from './pace';
import type { DiffHunk } from '../payloads';
import { ROWS_AT_FIRST, showAllButton } from './showAll';
import { drawText, type IStyledRange } from './styledText';
import { coloursOf } from './syntaxColours';
import { changedWords } from './wordDiff';

const ROWS_IN_GROUP = 100;
const SIGNS = { add: '+', remove: '−', context: '' };

/** Options of a text's diff. */
export interface ITextDiffOptions {
  /** The changed lines, with some around them. */
  hunks: readonly DiffHunk[];
  /** Whether the diff was cut. */
  truncated: boolean;
  /** The table's name for screen readers. */
  name: string;
  /** Loads the parser of the text's language; null for plain text. */
  loadParser: () => Promise<Parser | null>;
  trans: TranslationBundle;
  /** How many rows to show before a person asks for all. */
  rowsAtFirst?: number;
}

/** Rows of removed, added and unchanged lines; a long diff is shown in part until a person asks for all of it. */
export class TextDiff extends Widget {
  constructor(options: ITextDiffOptions) {
    super();
    this._trans = options.trans;
    this._lines = linesOf(options.hunks, options.truncated);
    for (const replacement of replacementsIn(this._lines)) {
      [...replacement.removed, ...replacement.added].forEach(index => this._replacements.set(index, replacement));
    }
    this.addClass('jp-fstools-Diff');
    this._table.setAttribute('aria-label', options.name);
    this.node.append(this._table);
    this._layOutNumbers();
    this._append(Math.min(this._lines.length, options.rowsAtFirst ?? ROWS_AT_FIRST));
    this._offerRest();
    void this._colour(options.loadParser).catch(reason => console.warn('The diff stays without colours.', reason));
  }

  /** Show every row, a few at a time; rows that are already shown stay as they are. */
  async showAll(): Promise<void> {
    const pace = new Pace();
    while (this._shown < this._lines.length && !this.isDisposed) {
      this._append(Math.min(this._shown + ROWS_IN_GROUP, this._lines.length));
      await pace.breathe();
    }
  }

  private _layOutNumbers(): void {
    const code = this._lines.filter(isCode);
    const largest = code.reduce((most, line) => Math.max(most, line.old, line.new), 0);
    this.node.style.setProperty('--jp-fstools-digits', String(String(largest).length));
    this.toggleClass('jp-mod-oneSided', code.every(line => !line.old) || code.every(line => !line.new));
  }

  private _offerRest(): void {
    const rest = this._lines.slice(this._shown).some(isCode);
    if (rest) {
      const count = this._lines.filter(isCode).length;
      const label = this._trans.__('Show all (%1 lines)', count.toLocaleString());
      this.node.append(showAllButton(label, this._table, () => this.showAll()));
    }
  }

  private _append(end: number): void {
    while (this._shown < end) {
      if (this._shown % ROWS_IN_GROUP === 0) {
        this._group = part('rowgroup', 'jp-fstools-Diff-group');
        this._table.append(this._group);
      }
      this._group.append(this._row(this._shown++));
    }
  }

  private _row(index: number): HTMLElement {
    const line = this._lines[index];
    if (!isCode(line)) {
      return this._foldRow(line);
    }
    const row = part('row', `jp-fstools-Diff-row jp-mod-${line.kind}`);
    const gutter = part('rowheader', 'jp-fstools-Diff-gutter', this._spokenNumber(line));
    gutter.dataset.old = line.old ? String(line.old) : '';
    gutter.dataset.new = line.new ? String(line.new) : '';
    const code = part('cell', 'jp-fstools-Diff-code');
    code.dataset.sign = SIGNS[line.kind];
    const mark = line.endsFile ? this._trans.__('no newline at end of file') : line.ending;
    if (mark) {
      code.dataset.mark = mark;
    }
    this._codes[index] = code;
    this._paint(index, line);
    row.append(gutter, code);
    return row;
  }

  private _foldRow(fold: IFold): HTMLElement {
    const row = part('row', 'jp-fstools-Diff-fold');
    const count = fold.count.toLocaleString();
    const text = fold.unchanged
      ? this._trans._n('… %2 unchanged line', '… %2 unchanged lines', fold.count, count)
      : this._trans._n('… %2 line not shown', '… %2 lines not shown', fold.count, count);
    const cell = part('cell', '', text);
    cell.ariaColSpan = '2';
    row.append(cell);
    return row;
  }

  private _spokenNumber(line: ICodeLine): string {
    switch (line.kind) {
      case 'add':
        return this._trans.__('added line %1', line.new);
      case 'remove':
        return this._trans.__('removed line %1', line.old);
      case 'context':
        return this._trans.__('line %1', line.new);
    }
  }

  private _paint(index: number, line: ICodeLine): void {
    drawText(this._codes[index], line.text, [this._colours[index] ?? [], this._wordsOf(index)]);
  }

  private _wordsOf(index: number): IStyledRange[] {
    const replacement = this._replacements.get(index);
    if (replacement && !this._words.has(index)) {
      const texts = (indexes: number[]) => indexes.map(at => (this._lines[at] as ICodeLine).text);
      const words = changedWords(texts(replacement.removed), texts(replacement.added));
      replacement.removed.forEach((at, place) => this._words.set(at, words.removed[place]));
      replacement.added.forEach((at, place) => this._words.set(at, words.added[place]));
    }
    return this._words.get(index) ?? [];
  }

  private async _colour(loadParser: () => Promise<Parser | null>): Promise<void> {
    const parser = await loadParser();
    if (parser === null) {
      return;
    }
    const pace = new Pace();
    for (const side of sidesOf(this._lines)) {
      const texts = side.map(index => (this._lines[index] as ICodeLine).text);
      const colours = await coloursOf(parser, texts, pace);
      for (const [place, index] of side.entries()) {
        if (this.isDisposed) {
          return;
        }
        this._colours[index] = colours[place];
        if (index < this._shown && colours[place].length) {
          this._paint(index, this._lines[index] as ICodeLine);
          await pace.breathe();
        }
      }
    }
  }

  private readonly _trans: TranslationBundle;
  private readonly _lines: DiffLine[];
  private readonly _replacements = new Map<number, IReplacement>();
  private readonly _words = new Map<number, IStyledRange[]>();
  private readonly _colours: IStyledRange[][] = [];
  private readonly _codes: HTMLElement[] = [];
  private readonly _table = part('table', 'jp-fstools-Diff-table');
  private _group!: HTMLElement;
  private _shown = 0;
}

function part(role: string, className: string, text?: string): HTMLElement {
  const node = element('div', className, text);
  node.setAttribute('role', role);
  return node;
}
