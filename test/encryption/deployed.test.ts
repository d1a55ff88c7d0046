import { configure, isSealed, runs, tasks } from '@millrace/sdk';
import { aesGcmCodec } from '@millrace/sdk/codec';
import { expect, onTestFinished, test } from 'vitest';
import { deployed, fetchingRunner } from '../support/deployment.ts';
import { promote } from '../support/promote.ts';
import { testServer } from '../support/server.ts';
import { codecFile, configFile, holdKeys } from './project.ts';

const words = `import { step, task } from '@millrace/sdk';
const run = async ({ name }) => 'Hello, ' + await step.run('name', () => name);
export const says = task({ id: 'says', run });
export const alone = task({ id: 'alone', isolated: true, run });
export const sized = task({ id: 'sized', machine: 'micro', run });
`;

test(
  'a deployed version contains its codec; the key is on the machine of its runner',
  { timeout: 120_000 },
  async () => {
    onTestFinished(holdKeys());
    const server = await testServer();
    const version = await deployed(server, {
      'tasks/words.ts': words,
      'codec.ts': codecFile('k2'),
      'millrace.config.ts': configFile,
    });
    await promote(server.url, server.keys.prod, version);
    await fetchingRunner(server);
    const codec = aesGcmCodec({
      keys: { k1: { env: 'CODEC_KEY_1' }, k2: { env: 'CODEC_KEY_2' } },
      current: 'k1',
      boundTo: 'test/prod',
    });
    configure({ baseURL: server.url, secretKey: server.keys.prod, codec });
    for (const task of ['says', 'alone', 'sized']) {
      const { id } = await tasks.trigger(task, { name: 'Ada' });
      const run = await runs.poll(id, { timeoutInMs: 60_000, pollIntervalMs: 50 });
      expect([task, run.version, run.output, run.error]).toEqual([task, version, 'Hello, Ada', undefined]);
      const { body } = await server.ask(`/api/v3/runs/${id}`);
      expect([isSealed(body.payload), isSealed(body.output)]).toEqual([true, true]);
    }
  },
);
