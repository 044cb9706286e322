/** Draws layers of styled ranges of one line as text nodes. */

import { element } from '../element';
import { INVISIBLES } from './invisibleCharacters';

/** A range of a line's characters and the CSS classes it gets. */
export interface IStyledRange {
  from: number;
  to: number;
  classes: string;
}

const INVISIBLE = 'jp-fstools-Diff-invisible';

/** The invisible characters of a line, one range each. */
export function invisiblesOf(text: string): IStyledRange[] {
  return Array.from(text.matchAll(INVISIBLES), ({ index, 0: sign }) => ({
    from: index,
    to: index + sign.length,
    classes: INVISIBLE
  }));
}

/**
 * Cut a line where any layer begins or ends, so that each piece has one set of classes.
 *
 * @param length - characters of the line, all of which the pieces cover.
 * @param layers - each sorted, its ranges disjoint.
 */
export function pieces(length: number, layers: readonly (readonly IStyledRange[])[]): IStyledRange[] {
  const edges = new Set([0, length]);
  for (const range of layers.flat()) {
    edges.add(Math.min(range.from, length)).add(Math.min(range.to, length));
  }
  const sorted = [...edges].sort((a, b) => a - b);
  const next = layers.map(() => 0);
  return sorted.slice(1).map((to, index) => {
    const from = sorted[index];
    const classes: string[] = [];
    layers.forEach((layer, which) => {
      while (next[which] < layer.length && layer[next[which]].to <= from) {
        next[which]++;
      }
      const range = layer[next[which]];
      if (range && range.from <= from) {
        classes.push(range.classes);
      }
    });
    return { from, to, classes: classes.join(' ') };
  });
}

/** Draw a line into an element as text, never as markup; `invisibles` are marked. */
export function drawText(
  host: HTMLElement,
  text: string,
  layers: readonly (readonly IStyledRange[])[] = [],
  invisibles = invisiblesOf(text)
): void {
  if (!text) {
    // Without a child, the line would be missing from copied text.
    host.replaceChildren(document.createElement('br'));
    return;
  }
  const nodes = pieces(text.length, [...layers, invisibles]).map(({ from, to, classes }) => {
    const content = text.slice(from, to);
    return classes ? styledSpan(content, classes) : document.createTextNode(content);
  });
  host.replaceChildren(...nodes);
}

/** Draw a text of several lines into one element; line breaks are not marked. */
export function drawLines(host: HTMLElement, text: string): void {
  const invisibles = invisiblesOf(text).filter(({ from }) => text[from] !== '\n');
  drawText(host, text, [], invisibles);
}

/** A text for places without elements, such as tooltips: names invisible characters, except line breaks. */
export function spelledOut(text: string): string {
  return text.replace(INVISIBLES, sign => (sign === '\n' ? sign : `[${nameOf(sign)}]`));
}

function nameOf(sign: string): string {
  return `U+${sign.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}

function styledSpan(content: string, classes: string): HTMLElement {
  const span = element('span', classes, content);
  if (classes.endsWith(INVISIBLE)) {
    const name = nameOf(content);
    span.dataset.name = name;
    span.title = name;
  }
  return span;
}
