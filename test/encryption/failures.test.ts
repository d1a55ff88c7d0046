import { configure, runs, tasks } from '@millrace/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';
import { canary, configFile } from './project.ts';
import { tablesWith } from './scan.ts';

const words = `import { metadata, step, task } from '@millrace/sdk';
export const says = task({ id: 'says', retry: { maxAttempts: 1 }, run: async () => { console.log('line ${canary}'); return 'out ${canary}'; } });
export const throws = task({ id: 'throws', retry: { maxAttempts: 1 }, run: async () => { throw new Error('thrown ${canary}'); } });
export const steps = task({ id: 'steps', retry: { maxAttempts: 1 }, run: async () => step.run('one', () => 'step ${canary}') });
export const notes = task({ id: 'notes', retry: { maxAttempts: 1 }, run: async () => { metadata.set('a', 'note ${canary}'); } });
`;

test(
  'a process without its key sends no output, error, log line, step or metadata',
  { timeout: 120_000 },
  async () => {
    const server = await testServer();
    const codec = `import { aesGcmCodec } from '@millrace/sdk/codec';
export default aesGcmCodec({ keys: { k1: { env: 'CODEC_KEY_THAT_IS_MISSING' } }, current: 'k1' });`;
    await startProject(server, {
      'tasks/words.ts': words,
      'codec.ts': codec,
      'millrace.config.ts': configFile,
    });
    configure({ baseURL: server.url, secretKey: server.keys.prod });
    onTestFinished(() => configure({}));
    const outcome = async (task: string) => {
      const run = await runs.poll((await tasks.trigger(task, 1)).id, {
        timeoutInMs: 60_000,
        pollIntervalMs: 50,
      });
      return [run.status, run.error?.name, run.error?.message];
    };
    const [sealing, unsealed] = [
      'The output could not be sealed, because the codec failed, and was not sent.',
      'The message could not be sealed, and was not sent.',
    ];
    expect(await outcome('says')).toEqual(['FAILED', 'SealingError', sealing]);
    expect(await outcome('throws')).toEqual(['FAILED', 'Error', unsealed]);
    expect(await outcome('steps')).toEqual(['FAILED', 'Error', unsealed]);
    // The task returns nothing, so only its metadata must be sealed. It is lost, and the log line about that cannot be sealed either.
    expect(await outcome('notes')).toEqual(['COMPLETED', undefined, undefined]);
    expect(await tablesWith(server.database, canary)).toEqual([]);
    expect(server.logged.filter((line) => line.includes(canary))).toEqual([]);
  },
);

test('a codec file that is missing or exports no codec is rejected before a version is created', async () => {
  const server = await testServer();
  const start = (codec: string) =>
    startProject(server, {
      'tasks/words.ts': words,
      'millrace.config.ts': configFile,
      ...(codec !== '' && { 'codec.ts': codec }),
    });
  await expect(start('export default { encode() {} };')).rejects.toThrow(
    'must be a codec, an object with encode and decode',
  );
  await expect(start(`throw new Error('no codec today');`)).rejects.toThrow('no codec today');
  await expect(start('')).rejects.toThrow('"codec" is ./codec.ts, which does not exist in the project');
});
