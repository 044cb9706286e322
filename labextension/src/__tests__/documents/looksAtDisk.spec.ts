import type { Contents } from '@jupyterlab/services';

import { LooksAtDisk } from '../../documents/looksAtDisk';

let asked: string[];
let contents: Contents.IManager;
let looks: LooksAtDisk;

beforeEach(() => {
  asked = [];
  const get = (path: string) => {
    asked.push(path);
    return Promise.resolve({ path });
  };
  contents = { get } as unknown as Contents.IManager;
  looks = new LooksAtDisk(contents);
});

/** Waits until all pending microtasks have run. */
const settled = () => new Promise(resolve => setTimeout(resolve));

it('lets a look wait until the server has written the file, and no other look', async () => {
  const letLook = looks.hold('a.py');
  const waiting = contents.get('a.py');
  await contents.get('b.py');
  await looks.get('a.py');
  await settled();
  expect(asked).toEqual(['b.py', 'a.py']);
  letLook();
  expect(await waiting).toEqual({ path: 'a.py' });
  await contents.get('a.py');
  expect(asked).toEqual(['b.py', 'a.py', 'a.py', 'a.py']);
});

it('goes on holding for a newer change when an older one has ended', async () => {
  const older = looks.hold('a.py');
  const newer = looks.hold('a.py');
  older();
  void contents.get('a.py');
  await settled();
  expect(asked).toEqual([]);
  newer();
  await settled();
  expect(asked).toEqual(['a.py']);
});

it('gives what was read already to what loads a file, and to nothing after that', async () => {
  const read = { path: 'a.py', content: 'x' } as Contents.IModel;
  const told: unknown[] = [];
  await looks.load('a.py', read, async () => {
    told.push(await contents.get('a.py', { content: true }), await contents.get('b.py'));
  });
  expect(told).toEqual([read, { path: 'b.py' }]);
  await expect(looks.load('a.py', read, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  await contents.get('a.py', { content: true });
  expect(asked).toEqual(['b.py', 'a.py']);
});

it('answers the first look of a save by what was seen just before', async () => {
  const seen = { path: 'a.py', name: 'seen' } as Contents.IModel;
  const look = () => contents.get('a.py', { content: false });
  const told: unknown[] = [];
  await looks.save('a.py', seen, async () => {
    told.push(await look(), await look());
  });
  expect([told, asked]).toEqual([[seen, { path: 'a.py' }], ['a.py']]);
  await expect(looks.save('a.py', seen, () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  expect(await look()).toEqual({ path: 'a.py' });
});

it('waits until each load of a file has ended, also where it fails, and two seconds at most', async () => {
  const ends: ((fails: boolean) => void)[] = [];
  const answer = () =>
    new Promise((resolve, reject) => ends.push(fails => (fails ? reject(new Error('gone')) : resolve({}))));
  contents = { get: answer } as unknown as Contents.IManager;
  looks = new LooksAtDisk(contents);
  const loads = [contents.get('a.py'), contents.get('a.py', { content: true })].map(load => load.catch(() => null));
  await settled();
  expect(['a.py', 'b.py'].map(path => looks.isLoading(path))).toEqual([true, false]);
  ends[1](true);
  await settled();
  expect(looks.isLoading('a.py')).toBe(true);
  ends[0](false);
  await Promise.all([looks.loaded('a.py'), ...loads]);
  expect(looks.isLoading('a.py')).toBe(false);
  void contents.get('a.py');
  await settled();
  await expect(looks.loaded('a.py')).rejects.toThrow();
});
