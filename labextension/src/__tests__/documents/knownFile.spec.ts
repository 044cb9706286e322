import type { JSONObject } from '@lumino/coreutils';

import { opened } from './diskSample';

// Yjs warns of what JupyterLab does when it makes a cell.
jest.spyOn(console, 'warn').mockImplementation();

function notebook(source: string, nbformat_minor: number): JSONObject {
  return { cells: [{ id: 'a', cell_type: 'raw', metadata: {}, source }], metadata: {}, nbformat: 4, nbformat_minor };
}

describe('a document that has to be loaded anew', () => {
  const before = notebook('x', 5);

  it('is read once: what its person typed while it is read again would be lost', async () => {
    const { disk, context, follow } = await opened('n.ipynb', before);
    disk.content = notebook('y', 4);
    await follow();
    expect([context.model.toJSON(), disk.reads]).toMatchObject([{ cells: [{ source: 'y' }] }, 1]);
    expect([context.model.dirty, context.contentsModel]).toMatchObject([false, { hash: disk.hashOf() }]);
    disk.content = notebook('z', 4);
    await context.revert();
    expect(context.model.toJSON()).toMatchObject({ cells: [{ source: 'z' }] });
  });

  it('is left alone where its person types meanwhile', async () => {
    const { disk, context, follow } = await opened('n.ipynb', before);
    disk.content = notebook('y', 4);
    disk.whileRead = async options => {
      context.model.dirty ||= options?.content !== false;
    };
    await follow();
    expect([context.model.toJSON(), context.contentsModel]).toMatchObject([before, { hash: disk.hashOf(before) }]);
  });
});
