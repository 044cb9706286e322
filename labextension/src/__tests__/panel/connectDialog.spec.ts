import type { ToolsServer } from '../../feed/requests';

import { nullTranslator } from '@jupyterlab/translation';

import { RequestError } from '../../feed/requests';
import { connectAssistant } from '../../panel/connectDialog';
import { Words } from '../../panel/words';
import { until } from '../diffSamples';

const trans = nullTranslator.load('jupyter_fstools');
const title = 'Another client';
const client = { name: 'generic', title, file: null, page: 'https://example.org' };
const refusal = { code: 'not_found', message: "there is no token 't1'", hint: '', details: {} };

const button = () => document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-accept');

describe('connecting an assistant', () => {
  it('tells that the token was revoked while the dialog waits', async () => {
    const server = {
      clients: () => Promise.resolve([client]),
      status: () => Promise.resolve({ tools: ['read_file'] }),
      connect: () => Promise.resolve({ id: 't1', client, configuration: '{}' }),
      isUsed: () => Promise.reject(new RequestError(refusal))
    } as unknown as ToolsServer;
    const done = connectAssistant({ server, words: new Words(trans), trans });
    await until(() => !!button());
    button()!.click();
    await until(() => document.querySelector('.jp-Dialog [role="status"]')?.textContent?.includes('revoked') ?? false);
    expect(document.querySelector('[role="status"]')!.textContent).toBe('Its token was revoked before the first call.');
    button()!.click();
    await done;
  });
});
