import * as fc from 'fast-check';

import { drawText, invisiblesOf, pieces, spelledOut } from '../../diff/styledText';

/** Sorted, disjoint ranges from sorted edges. */
const layer = (classes: string) =>
  fc.uniqueArray(fc.nat(30), { maxLength: 8 }).map(edges => {
    const sorted = edges.sort((a, b) => a - b);
    return sorted.flatMap((from, at) =>
      at % 2 || at + 1 === sorted.length ? [] : [{ from, to: sorted[at + 1], classes }]
    );
  });

function drawn(text: string, layers?: Parameters<typeof drawText>[2]): HTMLElement {
  const host = document.createElement('div');
  drawText(host, text, layers);
  return host;
}

describe('pieces', () => {
  it('are cut where any layer begins or ends', () => {
    const found = pieces(6, [[{ from: 0, to: 4, classes: 'a' }], [{ from: 2, to: 6, classes: 'b' }]]);
    expect(found.map(({ to, classes }) => [to, classes])).toEqual([
      [2, 'a'],
      [4, 'a b'],
      [6, 'b']
    ]);
  });

  it('cover the line, and each character has the classes of its ranges', () => {
    fc.assert(
      fc.property(layer('a'), layer('b'), fc.integer({ min: 1, max: 30 }), (a, b, length) => {
        const found = pieces(length, [a, b]);
        for (let at = 0; at < length; at++) {
          const wanted = [...a, ...b].filter(range => range.from <= at && at < range.to).map(range => range.classes);
          expect(found.filter(piece => piece.from <= at && at < piece.to).map(piece => piece.classes)).toEqual([
            wanted.join(' ')
          ]);
        }
      })
    );
  });
});

describe('a drawn line', () => {
  it('is text, whatever it contains', () => {
    const hostile = '<img src=x onerror="alert(1)"> & <script>';
    const host = drawn(hostile, [[{ from: 0, to: 4, classes: 'tag' }]]);
    expect(host.textContent).toBe(hostile);
    expect(host.querySelector('img, script')).toBeNull();
  });

  it('keeps its text whatever is laid over it', () => {
    fc.assert(
      fc.property(fc.fullUnicodeString(), layer('a'), layer('b'), (text, a, b) => {
        expect(drawn(text, [a, b]).textContent).toBe(text);
      })
    );
  });

  it('names the characters that cannot be seen', () => {
    const names = Array.from(drawn('a\u202eb\u200b\rc').querySelectorAll('span'), span => span.dataset.name);
    expect(names).toEqual(['U+202E', 'U+200B', 'U+000D']);
  });

  it('leaves tabs, letters of any script and joined emoji alone', () => {
    expect(invisiblesOf('\tÄ 漢字 مرحبا 👩‍💻')).toEqual([]);
  });

  it('marks what is invisible or reorders text, also beyond the first plane, and no part of an emoji', () => {
    const hidden = [
      '\u00ad',
      '\u034f',
      '\u200d',
      '\u3164',
      '\uffa0',
      '\ufe0f',
      '\u2800',
      '\u{e0041}',
      '\u{e0100}',
      '\u2066'
    ];
    for (const sign of hidden) {
      expect(invisiblesOf(`a${sign}b`)).toEqual([{ from: 1, to: 1 + sign.length, classes: expect.any(String) }]);
    }
    expect(invisiblesOf('❤\ufe0f\u200d🔥 👩\u200d💻')).toEqual([]);
    expect(invisiblesOf('👩\u200d code')).toEqual([{ from: 2, to: 3, classes: expect.any(String) }]);
    expect(spelledOut('a\u{e0041}')).toBe('a[U+E0041]');
  });

  it('is a line even if it is empty', () => {
    expect(drawn('').innerHTML).toBe('<br>');
  });
});
