/** Compares a notebook before and after a change, cell by cell: sources, outputs, metadata. */

import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { JSONObject, PartialJSONObject } from '@lumino/coreutils';

import { Panel, Widget } from '@lumino/widgets';

import type { IComparisonStyle } from './comparison';
import type { IDiffParts } from './diffParts';

import { element } from '../element';
import { Comparison } from './comparison';
import { placeOf } from './notebookDiff';
import { differs, type ICellSides, type IFileCell, isChanged, sourceOf } from './notebookSides';
import { renderedButton } from './renderedChange';

const AROUND_THE_SCREEN = '600px';
const MARKDOWN = 'text/markdown';

/** Shows each changed cell with its parts that differ; a cell is drawn once it scrolls into view. */
export class NotebookComparison extends Panel {
  constructor(
    cells: readonly ICellSides[],
    private _language: string,
    private _style: IComparisonStyle,
    private _parts: IDiffParts
  ) {
    super();
    this.addClass('jp-fstools-NotebookComparison');
    this.node.setAttribute('role', 'list');
    this.node.setAttribute('aria-label', _parts.trans.__('Changed cells'));
    this._onScreen = new IntersectionObserver(seen => this._onSeen(seen), { rootMargin: AROUND_THE_SCREEN });
    let unchanged: ICellSides[] = [];
    for (const cell of cells) {
      if (isChanged(cell) || _style.isUnfolded) {
        this._fold(unchanged);
        unchanged = [];
        this.addWidget(this._later(cell));
      } else {
        unchanged.push(cell);
      }
    }
    this._fold(unchanged);
  }

  /** Whether every changed cell is drawn. */
  get isDrawn(): boolean {
    return !this._waiting.size && this._compared.every(one => one.isDrawn);
  }

  override dispose(): void {
    this._onScreen.disconnect();
    super.dispose();
  }

  /** Add a button in place of unchanged cells, which shows them. */
  private _fold(cells: readonly ICellSides[]): void {
    if (!cells.length) {
      return;
    }
    const { trans } = this._parts;
    const label = trans._n('%1 unchanged cell', '%1 unchanged cells', cells.length);
    const button = element('button', 'jp-fstools-Button jp-fstools-NotebookComparison-fold', label);
    const item = new Widget({ node: element('div', '') });
    item.node.setAttribute('role', 'listitem');
    item.node.append(button);
    button.onclick = () => {
      let at = this.widgets.indexOf(item);
      item.dispose();
      cells.forEach(cell => this.insertWidget(at++, this._later(cell)));
    };
    this.addWidget(item);
  }

  private _later(cell: ICellSides): Panel {
    const panel = new Panel();
    panel.addClass('jp-fstools-NotebookComparison-cell');
    panel.node.setAttribute('role', 'listitem');
    this._waiting.set(panel.node, () => this._fill(panel, cell));
    this._onScreen.observe(panel.node);
    return panel;
  }

  private _onSeen(seen: readonly IntersectionObserverEntry[]): void {
    for (const { target } of seen.filter(({ isIntersecting }) => isIntersecting)) {
      this._waiting.get(target)?.();
      this._waiting.delete(target);
      this._onScreen.unobserve(target);
    }
  }

  private _fill(panel: Panel, cell: ICellSides): void {
    const { trans } = this._parts;
    const { cell_type: type } = (cell.new ?? cell.old)!;
    const title = trans.__('%1 (%2): %3', placeOf(cell.index, cell.new === null, trans), type, this._said(cell));
    const head = element('div', 'jp-fstools-NotebookComparison-head', title);
    panel.node.setAttribute('aria-label', title);
    panel.addWidget(new Widget({ node: head }));
    const name = type === 'code' ? this._language : type;
    const source = this._compare(sourceOf(cell.old), sourceOf(cell.new), title, { name });
    panel.addWidget(source);
    if (type === 'markdown') {
      const render = () => this._addRendered(panel, cell);
      head.append(renderedButton('jp-fstools-Button', source, render, trans));
    }
    if (differs(cell, 'outputs')) {
      panel.addWidget(this._beside(trans.__('Outputs'), cell, bundlesOf));
    }
    if (differs(cell, 'attachments')) {
      const attached = (side: IFileCell | null) => Object.values((side?.attachments ?? {}) as PartialJSONObject);
      panel.addWidget(this._beside(trans.__('Attachments'), cell, side => attached(side) as PartialJSONObject[]));
    }
    if (differs(cell, 'metadata')) {
      panel.addWidget(caption(trans.__('Metadata')));
      const [old, now] = [cell.old, cell.new].map(side => JSON.stringify(side?.metadata ?? {}, null, 1));
      panel.addWidget(this._compare(old, now, trans.__('%1, metadata', title), { name: 'json' }));
    }
  }

  private _said(cell: ICellSides): string {
    const { trans } = this._parts;
    if (cell.old === null || cell.new === null) {
      return cell.old === null ? trans.__('inserted') : trans.__('deleted');
    }
    const said = [
      ...(cell.isMoved ? [trans.__('moved')] : []),
      ...(differs(cell, 'cell_type') ? [trans.__('converted')] : []),
      ...(differs(cell, 'source') ? [trans.__('edited')] : []),
      ...(differs(cell, 'outputs') ? [trans.__('other outputs')] : []),
      ...(differs(cell, 'metadata') ? [trans.__('other metadata')] : []),
      ...(differs(cell, 'attachments') ? [trans.__('other attachments')] : [])
    ];
    return said.join(', ') || trans.__('unchanged');
  }

  private _compare(old: string, now: string, name: string, language: { name: string }): Comparison {
    const { languages, trans } = this._parts;
    const made = new Comparison({ ...this._style, old, new: now, name, language, languages, trans });
    this._compared.push(made);
    return made;
  }

  private _addRendered(panel: Panel, cell: ICellSides): Widget {
    const rendered = this._columns([cell.old, cell.new].map(side => [{ [MARKDOWN]: sourceOf(side) }]));
    panel.insertWidget(1, rendered);
    return rendered;
  }

  private _beside(title: string, cell: ICellSides, bundles: (side: IFileCell | null) => PartialJSONObject[]): Widget {
    const panel = new Panel();
    panel.addWidget(caption(title));
    panel.addWidget(this._columns([bundles(cell.old), bundles(cell.new)]));
    return panel;
  }

  /** Bundles of both sides, rendered beside each other as untrusted. */
  private _columns(sides: readonly PartialJSONObject[][]): Widget {
    const { rendermime, trans } = this._parts;
    const columns = new Panel();
    columns.addClass('jp-fstools-NotebookComparison-columns');
    sides.forEach((bundles, at) => {
      const column = new Panel();
      column.addClass(at ? 'jp-mod-add' : 'jp-mod-remove');
      column.node.setAttribute('role', 'group');
      column.node.setAttribute('aria-label', at ? trans.__('After') : trans.__('Before'));
      bundles.forEach(data => column.addWidget(rendered(data, rendermime, trans.__('Picture'))));
      columns.addWidget(column);
    });
    return columns;
  }

  private readonly _onScreen: IntersectionObserver;
  private readonly _compared: Comparison[] = [];
  private readonly _waiting = new Map<Element, () => void>();
}

/** Renders a bundle; an image without a text alternative is called `picture` for screen readers. */
function rendered(data: PartialJSONObject, rendermime: IRenderMimeRegistry, picture: string): Widget {
  const type = rendermime.preferredMimeType(data as JSONObject, 'ensure');
  if (type === undefined) {
    return new Widget({ node: element('pre', '', Object.keys(data).join(', ')) });
  }
  const renderer = rendermime.createRenderer(type);
  const model = rendermime.createModel({ data: data as JSONObject, trusted: false });
  const name = () =>
    renderer.node.querySelectorAll<HTMLImageElement>('img:not([alt])').forEach(nameless => {
      nameless.alt = picture;
    });
  void renderer.renderModel(model).then(name, reason => console.warn('An output cannot be rendered.', reason));
  return renderer;
}

/** The outputs of a cell as bundles of data by media type. */
function bundlesOf(cell: IFileCell | null): PartialJSONObject[] {
  return ((cell?.outputs ?? []) as JSONObject[]).map(output => {
    switch (output.output_type) {
      case 'stream':
        return { [`application/vnd.jupyter.${output.name === 'stderr' ? 'stderr' : 'stdout'}`]: joined(output.text) };
      case 'error':
        return { 'application/vnd.jupyter.stderr': ((output.traceback ?? []) as string[]).join('\n') };
      default:
        return Object.fromEntries(
          Object.entries((output.data ?? {}) as JSONObject).map(([type, value]) => [
            type,
            Array.isArray(value) && !type.endsWith('json') ? joined(value) : value
          ])
        );
    }
  });
}

function joined(text: unknown): string {
  return [text].flat().join('');
}

function caption(text: string): Widget {
  return new Widget({ node: element('div', 'jp-fstools-NotebookComparison-caption', text) });
}
