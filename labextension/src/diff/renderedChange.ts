/** Renders a markdown cell before and after its change. */

import { Panel, Widget } from '@lumino/widgets';

import type { IDiffParts } from './diffParts';
import { element } from '../element';
import type { CellDiff, DiffHunk } from '../payloads';

const MARKDOWN = 'text/markdown';

/** Shows each hunk as JupyterLab renders untrusted markdown: sanitized and without scripts. */
export class RenderedChange extends Panel {
  constructor(cell: CellDiff, parts: IDiffParts) {
    super();
    this.addClass('jp-fstools-RenderedChange');
    for (const hunk of cell.hunks) {
      if (cell.action !== 'convert') {
        this._add(hunk, 'remove', parts);
      }
      this._add(hunk, 'add', parts);
    }
  }

  private _add(hunk: DiffHunk, side: 'remove' | 'add', { rendermime, trans }: IDiffParts): void {
    if (!hunk.rows.some(row => row.kind === side)) {
      return;
    }
    const place =
      side === 'remove'
        ? trans.__('Before, from line %1', hunk.old_start)
        : trans.__('After, from line %1', hunk.new_start);
    const source = hunk.rows.filter(row => row.kind === side || row.kind === 'context').map(row => row.text);
    const renderer = rendermime.createRenderer(MARKDOWN);
    const model = rendermime.createModel({ data: { [MARKDOWN]: source.join('\n') }, trusted: false });
    void renderer.renderModel(model).catch(reason => console.warn('The markdown cannot be rendered.', reason));
    const panel = new Panel();
    panel.addClass(`jp-mod-${side}`);
    panel.addWidget(new Widget({ node: element('div', 'jp-fstools-RenderedChange-caption', place) }));
    panel.addWidget(renderer);
    this.addWidget(panel);
  }
}
