import { configure } from '@millrace/sdk';

/** A project with a codec. Each text that must not be found anywhere contains the canary. */
export const canary = 'canary-5b1f';

export const keys = {
  CODEC_KEY_1: Buffer.alloc(32, 11).toString('base64'),
  CODEC_KEY_2: Buffer.alloc(32, 22).toString('hex'),
};

/** Sets the keys in this process. The returned function removes them, and resets the configuration of the SDK. */
export function holdKeys(): () => void {
  Object.assign(process.env, keys);
  return () => {
    configure({});
    for (const name of Object.keys(keys)) delete process.env[name];
  };
}

export const codecFile = (
  current: 'k1' | 'k2',
  more = '',
): string => `import { aesGcmCodec } from '@millrace/sdk/codec';
export default aesGcmCodec({
  keys: { k1: { env: 'CODEC_KEY_1' }, k2: { env: 'CODEC_KEY_2' } },
  current: '${current}',
  boundTo: 'test/prod',
  ${more}
});
`;

export const configFile = `import { defineConfig } from 'millrace';
export default defineConfig({ codec: './codec.ts' });
`;

export const sealingTasks = `import { batch, logger, metadata, step, task, tasks, trace, wait } from '@millrace/sdk';
const quick = { maxAttempts: 2, minTimeoutInMs: 1, maxTimeoutInMs: 1 };
export const echo = task({ id: 'echo', run: async (payload) => ({ echoed: payload, secret: 'out ${canary}' }) });
export const large = task({ id: 'large', run: async ({ text }) => ({ length: text.length, text }) });
export const failing = task({ id: 'failing', retry: { maxAttempts: 1 }, run: async ({ why }) => {
  throw new RangeError('failed for ' + why, { cause: new Error('because of ' + why) });
} });
export const invalid = task({ id: 'invalid', retry: { maxAttempts: 1 },
  schema: { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ issues: [{ message: 'not ' + value.why }] }) } },
  run: async () => 1 });
export const child = task({ id: 'child', retry: { maxAttempts: 1 }, run: async ({ word, fail }) => {
  metadata.parent.increment('done');
  metadata.parent.append('words', word);
  if (fail) throw new TypeError('child said ' + word);
  return { answer: word };
} });
export const flow = task({ id: 'flow', retry: quick, run: async ({ word }, { ctx }) => {
  const before = metadata.current();
  metadata.set('status', { text: 'at work ' + word, percent: 50 });
  console.log('console ' + word);
  logger.info('logger ' + word, { word, n: 1 });
  const stored = await step.run('work', () => ({ word, at: new Date(3), calls: ctx.attempt.number }));
  const flaky = await step.run('bad', () => { throw new SyntaxError('step ' + word); }).catch((error) => error.cause.message);
  if (ctx.attempt.number === 1) throw new Error('first attempt ' + word);
  const fromChild = await child.triggerAndWait({ word }).unwrap();
  const failed = await child.triggerAndWait({ word, fail: true });
  const stepped = await step.triggerAndWait('ask', child, { word }).unwrap();
  const { runs } = await batch.triggerByTaskAndWait([{ task: child, payload: { word } }, { task: echo, payload: word }]);
  const token = await wait.createToken({ timeout: '1h' });
  await wait.completeToken(token, { approved: true, by: word });
  const approval = await wait.forToken(token).unwrap();
  const traced = await trace('spans', async () => { throw new Error('in span ' + word); }).catch((error) => error.message);
  // The reply contains changes by others.
  metadata.set('end', true);
  await metadata.flush();
  return { before, stored, date: stored.at instanceof Date, flaky, fromChild, failed: failed.error.cause.message, stepped,
    batch: runs.map((run) => run.ok && run.output), approval, traced, metadata: metadata.current() };
} });
export const collects = task({ id: 'collects', batch: { maxSize: 3, maxWait: '30s' }, run: async (payloads) => payloads.map((payload) => [typeof payload, payload instanceof Date, payload]) });
export const exits = task({ id: 'exits', retry: { maxAttempts: 1 }, run: async ({ word }) => {
  console.log('before exit ' + word);
  setTimeout(() => { throw new Error('uncaught ' + word); }, 5);
  await new Promise((done) => setTimeout(done, 5_000));
} });
`;
