/** Updates an element's children in place, so that focus, selection and presses survive. */

/** Give an element these children; existing ones with the same tag, class and action are kept and updated. */
export function reconcile(node: Element, wanted: readonly ChildNode[]): void {
  const known = new Map(Array.from(node.childNodes, child => [nameOf(child), child]));
  const children = wanted.map(child => {
    const name = nameOf(child);
    const kept = known.get(name);
    known.delete(name);
    return kept === undefined ? child : become(kept, child);
  });
  for (const child of [...node.childNodes].filter(child => !children.includes(child))) {
    child.remove();
  }
  // A child that is already in place is not inserted again: that would end a press and take the focus.
  children.forEach((child, index) => {
    const there = node.childNodes.item(index);
    if (there !== child) {
      node.insertBefore(child, there);
    }
  });
}

function become(node: ChildNode, wanted: ChildNode): ChildNode {
  if (node.isEqualNode(wanted)) {
    return node;
  }
  if (!(node instanceof Element && wanted instanceof Element)) {
    node.nodeValue = wanted.nodeValue;
    return node;
  }
  for (const name of node.getAttributeNames()) {
    node.toggleAttribute(name, wanted.hasAttribute(name));
  }
  for (const { name, value } of wanted.attributes) {
    node.setAttribute(name, value);
  }
  reconcile(node, [...wanted.childNodes]);
  return node;
}

function nameOf(node: Node): string {
  const marks = node instanceof Element ? [node.getAttribute('class'), node.getAttribute('data-action')] : [];
  return [node.nodeName, ...marks].join(' ');
}
