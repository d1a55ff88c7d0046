import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishedProject } from './project.ts';
import { serve, type Served } from './serve.ts';
import { tried } from './versions.ts';

const tasks = `
import { task, wait } from '@trigger.dev/sdk';
import { setTimeout } from 'node:timers/promises';

export const slow = task({
  id: 'slow',
  run: async (payload) => {
    await setTimeout(payload.ms);
    return payload.n;
  },
});

export const waits = task({
  id: 'waits',
  run: async () => {
    const first = await slow.triggerAndWait({ ms: 10, n: 1 }).unwrap();
    const token = await wait.createToken({ timeout: '1h' });
    console.log('token ' + token.id);
    const { by } = await wait.forToken(token).unwrap();
    const { runs } = await slow.batchTriggerAndWait([{ payload: { ms: 3_000, n: 2 } }, { payload: { ms: 10, n: 3 } }]);
    return { first, by, sum: runs.map((run) => run.output) };
  },
});

export const dies = task({
  id: 'dies',
  retry: { maxAttempts: 1 },
  run: async () => process.kill(process.pid, 'SIGKILL'),
});

export const hungry = task({
  id: 'hungry',
  machine: 'micro',
  retry: { maxAttempts: 1, minTimeoutInMs: 10, outOfMemory: { machine: 'small-2x' } },
  run: async (_, { ctx }) => {
    if (ctx.machine.name === 'micro') process.kill(process.pid, 'SIGKILL');
    if (ctx.attempt.number === 2) return ctx.machine.name;
  },
});
`;

describe.each(tried)('tasks of the published SDK %s in %s', { timeout: 60_000 }, (minor, how) => {
  const ends: (() => Promise<void>)[] = [];
  let served: Served;
  beforeAll(async () => {
    const onEnd = (end: () => Promise<void>): void => void ends.unshift(end);
    const { dir } = await publishedProject(minor, { 'trigger/tasks.ts': tasks }, onEnd);
    served = await serve(dir, how, onEnd);
  }, 120_000);
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('continue waiting after the end of their runner, and trigger nothing twice', async () => {
    const run = await served.trigger('waits');
    const found = async (): Promise<string[]> =>
      (await served.logs(run))
        .map(({ message }) => String(message))
        .filter((text) => text.startsWith('token '));
    await served.until(async () => (await found()).length > 0);
    /** Waits until it is suspended and has this many children. */
    const waiting = (children: number): Promise<void> =>
      served.until(async () => {
        const { body } = await served.server.ask(`/api/v3/runs/${run}`, { key: served.key });
        return body.status === 'WAITING' && body.relatedRuns.children.length === children;
      });
    await waiting(1);
    const [token] = await found();
    await served.restart();
    await served.server.ask(`/api/v1/waitpoints/tokens/${token?.slice('token '.length)}/complete`, {
      method: 'POST',
      key: served.key,
      body: { data: { by: 'somebody' } },
    });
    await waiting(3);
    await served.restart();
    const ended = await served.ended(run);
    expect(ended).toMatchObject({
      status: 'COMPLETED',
      attemptCount: 1,
      output: { first: 1, by: 'somebody', sum: [2, 3] },
    });
    expect(ended.relatedRuns.children).toHaveLength(3);
    // The code started three times, and got the token of the first start.
    expect(new Set(await found()).size).toBe(1);
  });

  test('fail if they end their process, and the others continue', async () => {
    const other = await served.trigger('slow', { ms: 1_000, n: 7 });
    expect(await served.run('dies')).toMatchObject({ status: 'CRASHED' });
    expect(await served.ended(other)).toMatchObject({ status: 'COMPLETED', output: 7 });
    // It ended because it ran out of memory.
    expect(await served.run('hungry')).toMatchObject({
      status: 'COMPLETED',
      output: 'small-2x',
      attemptCount: 2,
    });
  });
});
