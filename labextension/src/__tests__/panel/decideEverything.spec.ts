import type { ChangeEvent } from '../../payloads';
import type { IActivityFilter } from '../../feed/tokens';

import { nullTranslator } from '@jupyterlab/translation';

import { ActivityFeed } from '../../feed/activityFeed';
import { decideAll, isOffered } from '../../panel/decideEverything';
import { Words } from '../../panel/words';
import { until } from '../diffSamples';
import { changed, ServerSample } from '../serverSample';

const EVERYTHING: IActivityFilter = { kinds: ['change', 'read', 'refusal'] };
const trans = nullTranslator.load('jupyter_fstools');
const words = new Words(trans);

let server: ServerSample;
let feed: ActivityFeed;

beforeEach(() => {
  server = new ServerSample();
  feed = new ActivityFeed({ server: server.client, stream: server.stream, trans, filter: EVERYTHING, interval: 5 });
});

afterEach(() => feed.dispose());

const waits = (id: string, facts: Partial<ChangeEvent> = {}) => changed(id, { status: 'proposed', path: id, ...facts });
const command = (id: string, ...lines: string[]) => {
  server.runs[id] = lines;
  return waits(id, { op: 'execute', path: '.' });
};
const decisions = () => server.asked.filter(asked => /POST .*\/(approve|reject) /.test(asked));

/** Approve what a filter asks for; gives the dialog's text at the moment when its button is pressed. */
async function approved(filter: IActivityFilter, press = '.jp-mod-accept', meanwhile = () => {}): Promise<string> {
  const done = decideAll({ feed, server: server.client, words, trans }, 'approve', filter);
  await until(() => !!document.querySelector('.jp-Dialog-header')?.textContent);
  const dialog = document.querySelector<HTMLElement>('.jp-Dialog')!;
  const said = dialog.textContent!;
  meanwhile();
  dialog.querySelector<HTMLElement>(press)!.click();
  await done;
  return said;
}

describe('deciding about all that waits', () => {
  it('names the changes and what the commands say, and decides about these alone', async () => {
    server.entries = [waits('a.py'), waits('c', { op: 'execute', path: 'src' }), changed('done')];
    const said = await approved(EVERYTHING, '.jp-mod-accept', () => server.entries.push(waits('later')));
    expect(said).toContain('Approve 1 change and 1 command?');
    expect(said).toContain('run in srcNAME=value\nmake testedit a.pyA change');
    expect(decisions()).toEqual(['POST /api/fstools/changes/approve {"ids":["c","a.py"]}']);
  });

  it('is about what the filter asks for', async () => {
    server.entries = [waits('src/a.py'), waits('b.py')];
    const said = await approved({ ...EVERYTHING, path: 'src' });
    expect([said.includes('src/a.py'), said.includes('b.py')]).toEqual([true, false]);
    expect(decisions()).toEqual(['POST /api/fstools/changes/approve {"ids":["src/a.py"]}']);
  });

  it('does nothing where the person does not mean it', async () => {
    server.entries = [waits('a.py')];
    await approved(EVERYTHING, '.jp-mod-reject');
    expect(decisions()).toEqual([]);
  });

  it('names every command, before all, and the first of many changes, and counts the others', async () => {
    server.entries = Array.from({ length: 12 }, (_, at) => waits(`f${at}.py`));
    const ids = Array.from({ length: 30 }, (_, at) => `c${at}`);
    server.entries.push(...ids.map(id => command(id, `run-${id};`)));
    const said = await approved(EVERYTHING);
    expect(said).toContain('Approve 12 changes and 30 commands?');
    expect(ids.filter(id => !said.includes(`run-${id};`))).toEqual([]);
    expect([said.includes('f9.py'), said.includes('f10.py')]).toEqual([true, false]);
    expect(said).toContain('and 2 more changes');
    expect(said.indexOf('run-c29;')).toBeLessThan(said.indexOf('f0.py'));
  });

  it('counts nothing more where all is named', async () => {
    server.entries = Array.from({ length: 10 }, (_, at) => waits(`f${at}.py`));
    server.entries.push(command('c', 'make test'));
    expect(await approved(EVERYTHING)).not.toContain('more');
  });

  it('shows a long command to its last line, what hides in it made visible', async () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `echo ${at}`);
    server.entries = [command('c', ...lines, '', 'rm \u202e.')];
    await approved(EVERYTHING, '.jp-mod-accept', () => {
      const shown = document.querySelector('.jp-Dialog-body code')!;
      expect(shown.textContent).toBe(['NAME=value', ...lines, '', 'rm \u202e.'].join('\n'));
      expect(Array.from(shown.children, mark => (mark as HTMLElement).title)).toEqual(['U+202E']);
    });
  });

  it('lists them in a box, and long ones in boxes of their own, that have names and that the keyboard reaches', async () => {
    server.entries = [command('c', 'make test'), command('long', 'x'.repeat(1001))];
    await approved(EVERYTHING, '.jp-mod-accept', () => {
      const boxes = document.querySelectorAll<HTMLElement>('.jp-Dialog-body [tabindex]');
      const named = Array.from(boxes, box => [box.tagName, box.tabIndex, box.getAttribute('aria-label')]);
      expect(named).toEqual([
        ['UL', 0, 'What you decide about'],
        ['CODE', 0, 'A long command']
      ]);
    });
  });

  it('approves nothing where it is not known what a command says', async () => {
    server.entries = [waits('a.py'), command('c', 'make test')];
    const client = Object.assign(server.client, { change: () => Promise.reject(new Error('gone')) });
    await expect(decideAll({ feed, server: client, words, trans }, 'approve', EVERYTHING)).rejects.toThrow('gone');
    expect(decisions()).toEqual([]);
  });

  it('names those that were refused', async () => {
    server.entries = [waits('a.py')];
    const error = { code: 'stale', message: 'it has changed', hint: '', details: {} };
    server.outcomes = [{ id: 'a.py', path: null, change: null, error }];
    await expect(approved(EVERYTHING)).rejects.toThrow('1 was not decided:\na.py: it has changed');
  });

  it('says so where nothing waits any more', async () => {
    const parts = { feed, server: server.client, words, trans };
    await expect(decideAll(parts, 'approve', EVERYTHING)).rejects.toThrow('Nothing of it waits any more.');
  });
});

it.each([
  [{}, true],
  [{ status: 'proposed' }, true],
  [{ status: 'applied' }, false],
  [{ kinds: ['read'] }, false],
  [{ path: 'nothing_here' }, false]
] as [Partial<IActivityFilter>, boolean][])('with a list limited to %j it is offered: %j', async (part, offered) => {
  await feed.start();
  feed.filter = { ...EVERYTHING, ...part };
  server.tell(waits('a.py'));
  await until(() => feed.waiting === 1);
  expect(isOffered(feed)).toBe(offered);
});
