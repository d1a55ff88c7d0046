/**
 * A client under load of every kind, with the SDK: `node client.ts <prefix of keys> <seed> <history file>`. Appends a line to the history for
 * each call. On SIGTERM it starts nothing new, and exits when all calls have ended.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sessions, tasks, wait } from '@millrace/sdk';
import { randomOf } from '../random.ts';
import { sessionLoad } from './sessions.ts';
import { recorderTo } from './record.ts';

const [prefix = '', seed = '0', file = ''] = process.argv.slice(2);
const random = randomOf(Number(seed));
const { record, close } = recorderTo(file);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

const open = new Set<Promise<unknown>>();
function follow(work: Promise<unknown>): void {
  open.add(work);
  void work.finally(() => open.delete(work));
}

/** `quick` has half of its calls without a key of ours: the SDK's own request key then makes repetitions safe. */
async function trigger(task: string, key: string, withKey = true): Promise<void> {
  await record({ call: 'trigger', task, key }, async () => {
    const { id } = await tasks.trigger(task, { key }, withKey ? { idempotencyKey: key } : {});
    return { run: id };
  });
}

async function triggerBatch(key: string): Promise<void> {
  const keys = Array.from({ length: 5 }, (_, index) => `${key}-${index}`);
  await record({ call: 'batch', task: 'quick', keys }, async () => {
    await tasks.batchTrigger(
      'quick',
      keys.map((each) => ({ payload: { key: each }, options: { idempotencyKey: each } })),
    );
    return {};
  });
}

/** Creates a token, triggers a run that waits for it, and completes it a moment later. */
async function completeToken(key: string): Promise<void> {
  let token: string | undefined;
  await record({ call: 'create token' }, async () => {
    token = (await wait.createToken({ timeout: '1h' })).id;
    return {};
  });
  if (token === undefined) return;
  const payload = { key, token };
  await record({ call: 'trigger', task: 'token', key, token }, async () => {
    const { id } = await tasks.trigger('token', payload, { idempotencyKey: key });
    return { run: id };
  });
  await pause(random.between(500, 4_000));
  await record({ call: 'complete', token, value: key }, async () => {
    await wait.completeToken(payload.token, key);
    return {};
  });
}

const kinds: readonly ((key: string) => Promise<void>)[] = [
  ...Array.from({ length: 4 }, () => (key: string) => trigger('quick', key)),
  ...Array.from({ length: 3 }, () => (key: string) => trigger('quick', key, false)),
  (key) => trigger('slow', key),
  (key) => trigger('limited', key),
  (key) => trigger('waiting', key),
  (key) => trigger('stepping', key),
  completeToken,
  triggerBatch,
];

const channels = ['a', 'b', 'c'].map((name) => `${prefix}-${name}`);
for (const channel of channels)
  await sessions.start({
    type: 'chat',
    externalId: channel,
    taskIdentifier: 'chat',
    triggerConfig: { basePayload: { key: channel } },
  });
for (const channel of channels) for (const work of sessionLoad(channel, record, stop.signal)) follow(work);

process.stdout.write('load started\n');
for (let n = 0; !stop.signal.aborted; n++) {
  follow(random.pick(kinds)(`${prefix}-${n}`));
  await pause(random.between(60, 140));
}
await Promise.all(open);
close();
