/** Renders a markdown cell before and after its change. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { Panel, Widget } from '@lumino/widgets';

import type { IDiffParts } from './diffParts';
import { element } from '../element';
import type { CellDiff, DiffHunk } from '../payloads';

const MARKDOWN = 'text/markdown';

/**
 * Make a button that shows a rendering in place of a cell's lines, and the lines again.
 *
 * @param render - renders the cell beside its lines; called once that is wanted.
 */
export function renderedButton(
  className: string,
  lines: Widget,
  render: () => Widget,
  trans: TranslationBundle
): HTMLButtonElement {
  const button = element('button', className, trans.__('Rendered'));
  button.setAttribute('aria-pressed', 'false');
  let rendered: Widget | null = null;
  button.onclick = () => {
    const isPressed = rendered === null || rendered.isHidden;
    rendered ??= render();
    rendered.setHidden(!isPressed);
    lines.setHidden(isPressed);
    button.setAttribute('aria-pressed', String(isPressed));
  };
  return button;
}

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
