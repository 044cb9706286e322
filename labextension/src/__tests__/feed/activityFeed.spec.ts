import type { IActivityFilter } from '../../feed/tokens';

import { nullTranslator } from '@jupyterlab/translation';

import { ActivityFeed } from '../../feed/activityFeed';
import { isWanted, merged } from '../../feed/entries';
import { until } from '../diffSamples';
import { changed, changeOf, ServerSample, wasRead, wasRefused } from '../serverSample';

const EVERYTHING: IActivityFilter = { kinds: ['change', 'read', 'refusal'] };

let server: ServerSample;
let feed: ActivityFeed;

beforeEach(() => {
  server = new ServerSample();
  feed = new ActivityFeed({
    server: server.client,
    stream: server.stream,
    trans: nullTranslator.load('jupyter_fstools'),
    filter: EVERYTHING,
    interval: 5
  });
});

afterEach(() => feed.dispose());

const listed = () => feed.entries.map(entry => entry.id);

describe('merging', () => {
  it('lists newest first, each entry once', () => {
    const known = [changed('b', { at: 2 }), changed('a', { at: 1 })];
    const news = [changed('c', { at: 3 }), changed('a', { at: 1 })];
    expect(merged(known, news).map(entry => entry.id)).toEqual(['c', 'b', 'a']);
  });

  it('keeps the highest revision of a change, in whatever order the steps are told', () => {
    const steps = [changed('a', { revision: 1, status: 'proposed' }), changed('a', { revision: 2 })];
    expect(merged([], steps)).toEqual([steps[1]]);
    expect(merged([], steps.reverse())).toEqual([steps[0]]);
  });

  it('keeps the latest read of a file by a session', () => {
    const reads = [wasRead('1', { at: 1 }), wasRead('2', { at: 2 }), wasRead('3', { at: 1, session: 'two' })];
    expect(merged([], reads).map(entry => entry.id)).toEqual(['2', '3']);
  });
});

describe('a filter', () => {
  it.each([
    [{}, true],
    [{ kinds: ['read'] }, false],
    [{ session: 'two' }, false],
    [{ status: 'proposed' }, false],
    [{ status: 'applied' }, true],
    [{ kinds: ['read'], status: 'applied' }, true],
    [{ path: '.' }, true],
    [{ path: 'folder' }, true],
    [{ path: 'folder/a.txt' }, true],
    [{ path: 'folder/' }, true],
    [{ path: './folder' }, true],
    [{ path: '.' }, true],
    [{ path: 'fold' }, false]
  ] as [Partial<IActivityFilter>, boolean][])('of %j wants an applied change of folder/a.txt: %j', (part, wanted) => {
    expect(isWanted(changed('a', { path: 'folder/a.txt' }), { ...EVERYTHING, ...part })).toBe(wanted);
  });

  it('by status leaves out what has none', () => {
    expect(isWanted(wasRead('r'), { ...EVERYTHING, status: 'applied' })).toBe(false);
  });

  it('by path leaves out what names no file', () => {
    expect(isWanted(wasRefused('r', { path: null }), { ...EVERYTHING, path: 'folder' })).toBe(false);
  });
});

describe('proposals that do not fit a document', () => {
  it('are told each time that the document is drawn, and as another list only where they are others', () => {
    const told: string[][] = [];
    let changes = 0;
    feed.typedOver.connect((_, ids) => told.push([...ids]));
    feed.changed.connect(() => changes++);
    for (const ids of [[], ['a'], ['a'], []]) {
      feed.noteStale(server, new Set(ids));
    }
    expect(told).toEqual([['a'], ['a']]);
    expect(changes).toBe(2);
  });
});

describe('the feed', () => {
  it('lists what happened before, and counts what waits', async () => {
    server.entries = [changed('a', { at: 1 }), wasRead('b', { at: 2 }), changed('c', { at: 3, status: 'proposed' })];
    await feed.start();
    expect(listed()).toEqual(['c', 'b', 'a']);
    expect(feed.waiting).toBe(1);
    expect(feed.hasMore).toBe(false);
  });

  it('lists what the event bus tells', async () => {
    await feed.start();
    server.tell(changed('a', { at: 1, revision: 1, status: 'proposed' }));
    server.tellActivity(wasRead('b', { at: 2 }), wasRefused('c', { at: 3 }));
    expect(listed()).toEqual(['c', 'b', 'a']);
    await until(() => feed.waiting === 1);
    server.tell(changed('a', { at: 1, revision: 2, status: 'applied' }));
    expect(feed.entries[2]).toMatchObject({ status: 'applied' });
    await until(() => feed.waiting === 0);
  });

  it('says which files it heard of, and when it may have missed some', async () => {
    const heard: (readonly string[] | null)[] = [];
    feed.heard.connect((_, paths) => heard.push(paths));
    feed.filter = { kinds: ['read'] };
    await feed.start();
    expect(heard).toContain(null);
    server.tell(changed('a', { path: 'folder/a.txt' }));
    expect(heard.at(-1)).toEqual(['folder/a.txt']);
  });

  it('says it once, whoever tells it, and nothing of what changes no file', async () => {
    const heard: (readonly string[] | null)[] = [];
    await feed.start();
    feed.heard.connect((_, paths) => heard.push(paths));
    const change = changed('a', { path: 'folder/a.txt', revision: 1 });
    server.tell(change);
    server.entries = [{ ...change, undoable: !change.undoable }];
    await feed.start();
    server.tellActivity(wasRead('b'));
    expect(heard).toEqual([['folder/a.txt']]);
    server.tell({ ...change, revision: 2 });
    expect(heard).toHaveLength(2);
  });

  it('leaves out events that are not its own', async () => {
    await feed.start();
    server.tellOther({ path: 'a.txt', action: 'save' });
    expect(listed()).toEqual([]);
  });

  it('drops what a step has moved out of the filter', async () => {
    server.entries = [changed('a', { status: 'proposed' })];
    feed.filter = { ...EVERYTHING, status: 'proposed' };
    await until(() => listed().length === 1);
    server.tell(changed('a', { revision: 2, status: 'applied' }));
    expect(listed()).toEqual([]);
  });

  it('forgets an answer to a filter that is another by now', async () => {
    server.entries = [changed('a'), wasRead('b')];
    feed.filter = { kinds: ['change'] };
    feed.filter = { kinds: ['read'] };
    await until(() => listed().length > 0);
    expect(listed()).toEqual(['b']);
  });

  it('loses nothing that is told while an older answer is on its way', async () => {
    server.entries = [changed('a', { at: 1, status: 'proposed' }), wasRead('b', { at: 2 })];
    const asked = feed.refresh();
    server.tell(changed('a', { at: 1, revision: 2, status: 'rejected' }));
    server.tellActivity(wasRead('b', { at: 2 }), wasRead('c', { at: 3, session: 'two' }));
    await asked;
    expect(listed()).toEqual(['c', 'b', 'a']);
    expect(feed.entries[2]).toMatchObject({ status: 'rejected' });
    await until(() => feed.waiting === 0);
  });

  it('leaves a step that is told late out of what has gone on since', async () => {
    server.entries = [changed('a', { revision: 2 })];
    feed.filter = { ...EVERYTHING, status: 'applied' };
    server.tell(changed('a', { revision: 1, status: 'proposed' }));
    await until(() => listed().length === 1);
    expect(feed.entries[0]).toMatchObject({ status: 'applied' });
  });

  it('pages through what is older, and lists nothing twice', async () => {
    server.entries = Array.from({ length: 250 }, (_, at) => changed(`c${at}`, { at, revision: at + 1 }));
    await feed.start();
    expect([feed.entries.length, feed.hasMore]).toEqual([100, true]);
    await feed.loadMore();
    await feed.loadMore();
    expect([new Set(listed()).size, feed.hasMore]).toEqual([250, false]);
  });

  it('takes note of what this page decided itself', async () => {
    server.entries = [changed('a', { status: 'proposed' })];
    await feed.start();
    feed.note(changeOf(changed('a', { revision: 2, status: 'rejected' })));
    expect(feed.entries[0]).toMatchObject({ status: 'rejected' });
  });
});

describe('a broken connection', () => {
  it('is said, and what was missed is listed once the server is back', async () => {
    await feed.start();
    server.instead = 'gone';
    await until(() => feed.problem !== '');
    expect(feed.problem).toContain('cannot be reached');
    server.entries = [changed('a', { at: 1 }), wasRead('b', { at: 2 })];
    server.instead = null;
    await until(() => feed.problem === '' && listed().length === 2);
  });

  it('of the event stream alone loses no change', async () => {
    await feed.start();
    server.entries = [changed('a', { revision: 7 })];
    await until(() => listed().length === 1);
  });

  it('shows the journal that was begun anew', async () => {
    server.entries = [changed('a', { revision: 9 })];
    await feed.start();
    server.entries = [changed('b', { revision: 1 })];
    await until(() => listed().join() === 'b');
  });

  it('is told with the reason the server gives', async () => {
    const error = { code: 'io', message: 'The disk is full.', hint: '', details: {} };
    server.instead = { status: 500, body: JSON.stringify({ error }) };
    await feed.refresh();
    expect(feed.problem).toContain('The disk is full.');
  });
});
