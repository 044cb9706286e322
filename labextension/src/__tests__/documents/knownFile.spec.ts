import type { JSONObject } from '@lumino/coreutils';

import { opened } from './diskSample';

// Yjs warns each time JupyterLab creates a cell.
jest.spyOn(console, 'warn').mockImplementation();

function notebook(source: string, nbformat_minor: number): JSONObject {
  return { cells: [{ id: 'a', cell_type: 'raw', metadata: {}, source }], metadata: {}, nbformat: 4, nbformat_minor };
}

describe('a text whose lines end as on Windows', () => {
  it('follows its file by what differs, and its person undoes their typing alone', async () => {
    const { disk, context, follow, type } = await opened('a.py', 'x\r\ny\r\n');
    type('# typed\n');
    await context.save();
    disk.content = '# typed\r\nx\r\nz\r\n';
    await follow();
    expect(context.model.toString()).toBe('# typed\nx\nz\n');
    context.model.sharedModel.undo();
    expect(context.model.toString()).toBe('x\nz\n');
    await context.save();
    expect(disk.content).toBe('x\r\nz\r\n');
  });

  it.each([
    ['x\r\n', 'y\n'],
    ['x\r\n', 'y\r'],
    ['x\n', 'y\r\n']
  ])('goes over to another ending with its file: %j, %j', async (before, after) => {
    const { disk, context, told, follow, type } = await opened('a.py', before);
    disk.content = after;
    await follow();
    expect(context.contentsModel).toMatchObject({ hash: disk.hashOf() });
    expect(told.saved).toBe(true);
    type('# typed ');
    await context.save();
    expect(disk.content).toBe(`# typed ${after}`);
  });

  it('is empty once its file is', async () => {
    const { disk, context, follow } = await opened('a.py', 'x\r\n');
    disk.content = '';
    await follow();
    expect([context.model.toString(), context.contentsModel]).toMatchObject(['', { hash: disk.hashOf('') }]);
  });
});

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
