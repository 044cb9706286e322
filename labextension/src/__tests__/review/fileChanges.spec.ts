import { changesToSee } from '../../review/fileChanges';
import { changed, ServerSample } from '../serverSample';

let server: ServerSample;

beforeEach(() => {
  server = new ServerSample();
});

/** Changes of `a.txt`, oldest first; `seen` tells for each whether ann has seen it. */
function made(seen: boolean[]): void {
  server.entries = seen.map((isSeen, at) => changed(`c${at}`, { at, seen_by: isSeen ? ['ann'] : [] }));
}

const idsOf = (changes: readonly { id: string }[]) => changes.map(({ id }) => id);

it('shows the changes that were made and are not seen, oldest first, by one request', async () => {
  made([false, true, false]);
  const { made: shown, newest } = await changesToSee(server.client, 'a.txt', 'ann');
  expect(idsOf(shown)).toEqual(['c0', 'c2']);
  expect(newest).toBe('c2');
  expect(server.asked.filter(asked => asked.includes('applied'))).toHaveLength(1);
});

it('shows older ones once the newest fifty are seen', async () => {
  made(Array.from({ length: 60 }, (_, at) => at >= 10));
  const { made: shown } = await changesToSee(server.client, 'a.txt', 'ann');
  expect(idsOf(shown)).toEqual(Array.from({ length: 10 }, (_, at) => `c${at}`));
});

it('shows fifty of many, and asks for no others', async () => {
  made(Array.from({ length: 60 }, () => false));
  const { made: shown } = await changesToSee(server.client, 'a.txt', 'ann');
  expect(idsOf(shown)).toEqual(Array.from({ length: 50 }, (_, at) => `c${at + 10}`));
  expect(server.asked).toHaveLength(2);
});

it('fills up behind undo steps, which nobody looks at', async () => {
  made(Array.from({ length: 60 }, () => false));
  const stepsBack = Array.from({ length: 20 }, (_, at) => changed(`u${at}`, { at: 60 + at, undoes: 'x' }));
  server.entries.push(...stepsBack);
  const { made: shown, newest } = await changesToSee(server.client, 'a.txt', 'ann');
  expect(idsOf(shown)).toEqual(Array.from({ length: 50 }, (_, at) => `c${at + 10}`));
  expect(newest).toBe('c59');
});
