import type { ChangeEvent } from '../../payloads';
import type { Decision } from '../../feed/requests';
import type { IActivityFilter } from '../../feed/tokens';
import type { IDecisionParts } from '../../panel/decideEverything';

import { nullTranslator } from '@jupyterlab/translation';

import { ActivityFeed } from '../../feed/activityFeed';
import { decideAll, fit, waitingIn } from '../../panel/decideEverything';
import { Words } from '../../panel/words';
import { until } from '../diffSamples';
import { changed, changeOf, ServerSample } from '../serverSample';

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

const parts = (): IDecisionParts => ({ feed, server: server.client, words, trans, user: () => 'ann', begun: null });

/** Apply a step to the waiting changes of the list; returns the dialog's text as its button is pressed. */
async function approved(
  press = '.jp-mod-accept',
  meanwhile = () => {},
  step: Decision = 'approve',
  others: Partial<IDecisionParts> = {}
): Promise<string> {
  await feed.refresh();
  feed.entries.forEach(({ id }) => !id.startsWith('unseen') && feed.noteShown(id));
  const done = decideAll({ ...parts(), ...others }, step, waitingIn(feed));
  await until(() => !!document.querySelector('.jp-Dialog-header')?.textContent);
  const dialog = document.querySelector<HTMLElement>('.jp-Dialog')!;
  const said = dialog.textContent!;
  meanwhile();
  dialog.querySelector<HTMLElement>(press)!.click();
  await Promise.race([done, until(() => document.querySelector('.jp-Dialog')?.textContent?.includes('Not ') ?? false)]);
  return said;
}

const problem = async () => {
  await until(() => document.querySelector('.jp-Dialog')?.textContent?.includes('Not ') ?? false);
  const dialog = document.querySelector<HTMLElement>('.jp-Dialog')!;
  const said = dialog.textContent;
  dialog.querySelector<HTMLElement>('button:last-of-type')!.click();
  await until(() => document.querySelector('.jp-Dialog') === null);
  return said;
};

describe('deciding about several changes', () => {
  it('names the changes and what the commands say, and decides about these alone', async () => {
    server.entries = [waits('a.py'), waits('c', { op: 'execute', path: 'src' }), changed('done')];
    const said = await approved('.jp-mod-accept', () => server.entries.push(waits('later')));
    expect(said).toContain('Approve 1 change and 1 command?');
    expect(said).toContain('run in srcNAME=value\nmake testedit a.pyA change');
    expect(decisions()).toEqual(['POST /api/fstools/changes/approve {"ids":["c","a.py"]}']);
  });

  it('approves only what was shown and fits its file, and counts the others', async () => {
    server.entries = [waits('a.py'), waits('unseen.py'), waits('old.py', { stale: true })];
    const said = await approved();
    expect(said).toContain('Approve 1 change?');
    expect(said).toContain('2 others go on waiting');
    expect(decisions()).toEqual(['POST /api/fstools/changes/approve {"ids":["a.py"]}']);
  });

  it('rejects also what was not shown', async () => {
    server.entries = [waits('unseen.py'), waits('old.py', { stale: true })];
    expect(await approved('.jp-mod-accept', () => undefined, 'reject')).toContain('Reject 2 changes?');
    expect(decisions()).toEqual(['POST /api/fstools/changes/reject {"ids":["old.py","unseen.py"]}']);
  });

  it.each(['approve', 'reject'] as const)(
    'leaves parts that were decided in a document as they are: %s',
    async step => {
      server.entries = [waits('b.py'), waits('parts.py'), waits('a.py')];
      const asked: string[] = [];
      const noting = (what: string) => async (id: string, decision: string) => {
        asked.push(`${decision}${what} ${id}`);
        return changeOf(waits(id, { status: decision === 'approve' ? 'applied' : 'rejected' }));
      };
      const client = Object.assign(server.client, { decide: noting('') });
      const begun = { has: (id: string) => id === 'parts.py', decide: noting(' the rest of') };
      const said = await approved('.jp-mod-accept', () => undefined, step, { server: client, begun });
      expect(said.includes('Parts that you rejected or edited in a document stay so.')).toBe(step === 'approve');
      expect(asked).toEqual([`${step} a.py`, `${step} the rest of parts.py`, `${step} b.py`]);
      expect(decisions()).toEqual([]);
    }
  );

  it('undoes the newest first, and keeps without asking', async () => {
    server.entries = [changed('a', { at: 1, path: 'a' }), changed('b', { at: 2, path: 'b', seen_by: ['ann'] })];
    await feed.refresh();
    const changes = feed.entries as ChangeEvent[];
    expect(fit('keep', changes, parts()).map(({ id }) => id)).toEqual(['a']);
    const asked: string[] = [];
    const decide = async (id: string, step: string) => {
      asked.push(`${step} ${id}`);
      return changeOf(changes.find(change => change.id === id)!);
    };
    const client = Object.assign(server.client, { decide });
    await decideAll({ ...parts(), server: client }, 'keep', changes);
    const done = decideAll({ ...parts(), server: client }, 'undo', changes);
    await until(() => !!document.querySelector('.jp-Dialog-header')?.textContent?.includes('Undo 2 changes?'));
    document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-warn')!.click();
    await done;
    expect(asked).toEqual(['keep a', 'undo b', 'undo a']);
  });

  it('does nothing where the person does not mean it', async () => {
    server.entries = [waits('a.py')];
    await approved('.jp-mod-reject');
    expect(decisions()).toEqual([]);
  });

  it('names every command, before all, and the first of many changes, and counts the others', async () => {
    server.entries = Array.from({ length: 12 }, (_, at) => waits(`f${at}.py`));
    const ids = Array.from({ length: 30 }, (_, at) => `c${at}`);
    server.entries.push(...ids.map(id => command(id, `run-${id};`)));
    const said = await approved();
    expect(said).toContain('Approve 12 changes and 30 commands?');
    expect(ids.filter(id => !said.includes(`run-${id};`))).toEqual([]);
    expect([said.includes('f9.py'), said.includes('f10.py')]).toEqual([true, false]);
    expect(said).toContain('and 2 more changes');
    expect(said.indexOf('run-c29;')).toBeLessThan(said.indexOf('f0.py'));
  });

  it('counts nothing more where all is named', async () => {
    server.entries = Array.from({ length: 10 }, (_, at) => waits(`f${at}.py`));
    server.entries.push(command('c', 'make test'));
    expect(await approved()).not.toContain('more');
  });

  it('shows a long command to its last line, what hides in it made visible', async () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `echo ${at}`);
    server.entries = [command('c', ...lines, '', 'rm \u202e.')];
    await approved('.jp-mod-accept', () => {
      const shown = document.querySelector('.jp-Dialog-body code')!;
      expect(shown.textContent).toBe(['NAME=value', ...lines, '', 'rm \u202e.'].join('\n'));
      expect(Array.from(shown.children, mark => (mark as HTMLElement).title)).toEqual(['U+202E']);
    });
  });

  it('lists them in a box, and long ones in boxes of their own, that have names and that the keyboard reaches', async () => {
    server.entries = [command('c', 'make test'), command('long', 'x'.repeat(1001))];
    await approved('.jp-mod-accept', () => {
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
    await feed.refresh();
    const client = Object.assign(server.client, { change: () => Promise.reject(new Error('gone')) });
    void decideAll({ ...parts(), server: client }, 'approve', waitingIn(feed));
    expect(await problem()).toContain('gone');
    expect(decisions()).toEqual([]);
  });

  it('names those that were refused', async () => {
    server.entries = [waits('a.py')];
    const error = { code: 'stale', message: 'it has changed', hint: '', details: {} };
    server.outcomes = [{ id: 'a.py', path: null, change: null, error }];
    await approved();
    expect(await problem()).toContain('1 change was refused:\na.py: it has changed');
  });

  it('says so where nothing waits any more', async () => {
    void decideAll(parts(), 'approve', []);
    expect(await problem()).toContain('None of these changes is waiting any more.');
  });
});
