import * as fc from 'fast-check';

import { reconcile } from '../../panel/reconcile';

const { tree } = fc.letrec<{ tree: string; leaf: string }>(tie => ({
  leaf: fc.constantFrom('', 'text', 'other', '<br>'),
  tree: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc
      .tuple(
        fc.constantFrom('p', 'b'),
        fc.constantFrom('', 'class="x"', 'data-action="y" title="z"'),
        fc.array(tie('tree'))
      )
      .map(([tag, marks, children]) => `<${tag} ${marks}>${children.join('')}</${tag}>`)
  )
}));

function drawn(markup: string): HTMLElement {
  const node = document.createElement('div');
  node.innerHTML = markup;
  return node;
}

it('becomes what was wanted, whatever it was', () => {
  fc.assert(
    fc.property(tree, tree, (before, after) => {
      const [node, wanted] = [drawn(before), drawn(after)];
      reconcile(node, [...drawn(after).childNodes]);
      expect(node.innerHTML).toBe(wanted.innerHTML);
    })
  );
});

it('keeps what is in its place already, and never moves it', () => {
  const node = drawn('<b>gone</b><i class="x">old</i><u></u>');
  const kept = [...node.querySelectorAll('i, u')];
  const seen = new MutationObserver(() => undefined);
  seen.observe(node, { childList: true });
  reconcile(node, [...drawn('<p>new</p><i class="x" title="t">new</i><s></s><u></u>').childNodes]);
  expect([...node.querySelectorAll('i, u')]).toEqual(kept);
  expect(seen.takeRecords().flatMap(({ removedNodes }) => [...removedNodes].map(one => one.nodeName))).toEqual(['B']);
  expect(kept[0].outerHTML).toBe('<i class="x" title="t">new</i>');
});
