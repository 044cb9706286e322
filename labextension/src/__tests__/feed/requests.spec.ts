import type { RequestError } from '../../feed/requests';

import { changed, ServerSample } from '../serverSample';

let server: ServerSample;

beforeEach(() => {
  server = new ServerSample();
});

async function refusalOf(asked: Promise<unknown>): Promise<RequestError['refusal']> {
  return asked.then(
    () => {
      throw new Error('It was not refused.');
    },
    (error: RequestError) => error.refusal
  );
}

describe('a request', () => {
  it('names what the list is limited to, and leaves out what it is not', async () => {
    await server.client.activity({ kinds: ['change', 'read'], path: 'a & b?/ü.txt' }, 12.5, 7);
    const [method, url] = server.asked[0].split(' ');
    expect([method, new URL(url, 'http://localhost').pathname]).toEqual(['GET', '/api/fstools/activity']);
    expect([...new URLSearchParams(url.split('?')[1]).entries()]).toEqual([
      ['kind', 'change,read'],
      ['path', 'a & b?/ü.txt'],
      ['before', '12.5'],
      ['limit', '7']
    ]);
  });

  it('asks for the steps after a revision', async () => {
    server.entries = [changed('old', { revision: 1 }), changed('new', { revision: 2 })];
    const { entries, revision } = await server.client.news(1);
    expect(entries.map(entry => entry.id)).toEqual(['new']);
    expect(revision).toBe(2);
  });

  it('decides by id, which never becomes a part of the path', async () => {
    await server.client.decide('../x', 'approve').catch(() => undefined);
    expect(server.asked).toEqual(['POST /api/fstools/changes/..%2Fx/approve {}']);
  });

  it('decides about many by their ids', async () => {
    await server.client.decideAll('reject', ['a', 'b']);
    expect(server.asked).toEqual(['POST /api/fstools/changes/reject {"ids":["a","b"]}']);
  });
});

describe('a refusal', () => {
  it('is told as the server words it', async () => {
    const error = { code: 'stale', message: 'It changed.', hint: 'Read it again.', details: { diff: '-a' } };
    server.instead = { status: 412, body: JSON.stringify({ error }) };
    expect(await refusalOf(server.client.decide('c', 'approve'))).toEqual(error);
  });

  it('is told by its status where the server words nothing', async () => {
    server.instead = { status: 502, body: '<html>Bad gateway</html>' };
    expect(await refusalOf(server.client.status())).toMatchObject({
      code: 'io',
      message: expect.stringContaining('502')
    });
  });

  it('is a success without a body, too', async () => {
    server.instead = { status: 200, body: '' };
    expect(await refusalOf(server.client.status())).toMatchObject({ code: 'foreign' });
  });

  it('says when the server cannot be reached', async () => {
    server.instead = 'gone';
    expect(await refusalOf(server.client.status())).toMatchObject({ code: 'unreachable' });
  });
});
