import { YNotebook } from '@jupyter/ydoc';
import type { JSONObject } from '@lumino/coreutils';

import { rememberTrust, withTrust } from '../../documents/trust';

const OUTPUT = { output_type: 'display_data', metadata: {}, data: { 'text/html': '<b>mine</b>' } };
const CELL = { id: 'c1', cell_type: 'code', source: 'x', outputs: [OUTPUT], metadata: { tags: ['a'] } };

function isTrusted(notebook: YNotebook, cell: JSONObject): boolean {
  return (withTrust(notebook, cell).metadata as JSONObject).trusted === true;
}

describe('a cell that comes back', () => {
  const notebook = new YNotebook();
  rememberTrust(notebook, { ...CELL, metadata: { ...CELL.metadata, trusted: true } });
  rememberTrust(notebook, { ...CELL, id: 'c2' });

  it('is trusted as it was, in the document that had it', () => {
    expect(isTrusted(notebook, CELL)).toBe(true);
    expect(isTrusted(new YNotebook(), CELL)).toBe(false);
  });

  it.each<[string, JSONObject]>([
    ['with other outputs', { ...CELL, outputs: [{ ...OUTPUT, data: { 'text/html': '<b>theirs</b>' } }] }],
    ['with another text', { ...CELL, source: 'y' }],
    ['by another name', { ...CELL, id: 'c3' }],
    ['that was not trusted', { ...CELL, id: 'c2' }],
    ['by its own word', { ...CELL, id: 'c2', metadata: { trusted: true } }]
  ])('is not trusted %s', (_, cell) => {
    expect(isTrusted(notebook, cell)).toBe(false);
  });
});
