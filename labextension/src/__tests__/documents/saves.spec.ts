import { opened } from './diskSample';

/** Waits until all pending microtasks have run. */
const settled = () => new Promise(resolve => setTimeout(resolve));

const PATCH = {
  kind: 'text' as const,
  spans: [[4, '1', '2', 'x = ', ''] as [number, string, string, string, string]]
};

function gate() {
  let open = (): void => undefined;
  const opens = new Promise<void>(resolve => (open = resolve));
  return { open: () => open(), opens };
}

describe('a save that begins', () => {
  it('while the document follows its file writes what that has by now', async () => {
    const { disk, context, follow } = await opened('a.py', 'old\n');
    const [reading, looking] = [gate(), gate()];
    disk.content = 'new\n';
    disk.whileRead = async options => void (options?.content !== false && (await reading.opens));
    const followed = follow();
    await settled();
    disk.whileRead = () => looking.opens;
    const saved = context.save();
    await settled();
    reading.open();
    await followed;
    looking.open();
    await saved;
    expect([disk.content, context.model.toString(), context.model.dirty]).toEqual(['new\n', 'new\n', false]);
  });

  it('before the file has a change does not write one that is taken back', async () => {
    const { disk, context, handle, told } = await opened('a.py', 'x = 1');
    const patched = await handle({ do: 'patch', hash: told.hash, to: 'other', change: PATCH });
    expect(patched).toMatchObject({ done: true });
    const saved = context.save();
    await settled();
    await handle({ do: 'written', hash: null, last_modified: null });
    await saved;
    expect([disk.content, context.model.toString()]).toEqual(['x = 1', 'x = 1']);
  });
});

it('shows a change that comes while the person reloads the file', async () => {
  const { disk, context, handle, told } = await opened('a.py', 'x = 1');
  const reading = gate();
  disk.whileRead = async options => void (options?.content !== false && (await reading.opens));
  const reloaded = context.revert();
  await settled();
  const to = disk.hashOf('x = 2');
  const patched = handle({ do: 'patch', hash: told.hash, to, change: PATCH });
  await settled();
  reading.open();
  expect(await patched).toMatchObject({ done: true });
  disk.content = 'x = 2';
  await handle({ do: 'written', hash: to, last_modified: '' });
  await reloaded;
  expect([context.model.toString(), context.model.dirty]).toEqual(['x = 2', false]);
});
