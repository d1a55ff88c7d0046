import { expect, test } from 'vitest';
import { masterKeyOf } from '../../auth/seal.ts';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import { packetPruner } from '../../payloads/prune.ts';
import { runPruner } from '../retention/prune.ts';
import { rescueRunner } from '../dispatch/rescue.ts';
import { prepareReplay } from '../create/replay.ts';
import { testEngine } from '../testing/engine.ts';
import { loadSteps } from './load.ts';
import { readSteps } from './read.ts';
import { replayFromStep } from './replay.ts';
import { createStoreStep, type NewStep } from './store.ts';

const masterKey = masterKeyOf(Buffer.alloc(32, 1));
const secret = 'correct-horse-battery';

async function start() {
  const t = await testEngine();
  const version = await t.register('work');
  await t.addRunner('r1');
  const store = createStoreStep(t.engine, masterKey);
  const redactor = createRedactor([secret]);
  const env = t.environment.id;
  const claim = async (runner = 'r1') => {
    const [attempt] = await t.claim(runner, [version.id], 1);
    if (!attempt) throw new Error('nothing was claimed');
    return attempt;
  };
  return {
    t,
    env,
    version,
    claim,
    store: (attempt: { run: string; fence: number }, report: Partial<NewStep['report']>) =>
      store({
        env,
        run: attempt.run,
        redactor,
        report: {
          fence: attempt.fence,
          name: 'a',
          kind: 'RUN',
          status: 'COMPLETED',
          seq: 1,
          tries: 1,
          tookMs: 5,
          ...report,
        },
      }),
    load: async (attempt: { run: string; fence: number }, isOwn = true) =>
      (
        await loadSteps(t.engine, env, attempt.run, {
          fence: attempt.fence,
          after: undefined,
          name: undefined,
          addressOf: (name) => `address of ${name}`,
          masterKey: isOwn ? masterKey : undefined,
        })
      ).data,
    steps: async (run: string) =>
      (await readSteps(t.sql, env, run, { size: 100 })).rows.map((row) => [row.name, row.status, row.output]),
  };
}

const text = (output: string) => ({ output, outputType: 'text/plain' as const });
const failure = { message: 'no', name: 'Error' };

test('the first result wins: a repeated call changes nothing, even concurrently', async () => {
  const { t, claim, store, steps } = await start();
  const { id } = await t.trigger('work');
  const attempt = await claim();
  const both = await Promise.all([store(attempt, text('one')), store(attempt, text('two'))]);
  expect(both.map(({ at }) => at)).toEqual([both[0].at, both[0].at]);
  const again = await store(attempt, text('three'));
  expect([again.isNew, again.at]).toEqual([false, both[0].at]);
  const [[, , stored] = []] = await steps(id);
  expect(['one', 'two']).toContain(stored);
});

test('an abandoned attempt stores nothing, with or without a newer attempt', async () => {
  const { t, claim, store, load, steps } = await start();
  const { id } = await t.trigger('work');
  const abandoned = await claim();
  await store(abandoned, text('kept'));
  await rescueRunner(t, 'r1', 'connection of r1');
  await t.addRunner('r2');
  await expect(store(abandoned, { name: 'b', ...text('lost') })).rejects.toMatchObject({ status: 409 });
  const attempt = await claim('r2');
  const [late, own] = await Promise.allSettled([
    store(abandoned, { name: 'b', ...text('lost') }),
    store(attempt, { name: 'b', seq: 2, isSequential: true, ...text('own') }),
  ]);
  expect([late.status, own.status]).toEqual(['rejected', 'fulfilled']);
  expect(await steps(id)).toEqual([
    ['a', 'COMPLETED', 'kept'],
    ['b', 'COMPLETED', 'own'],
  ]);
  await expect(load(abandoned)).rejects.toMatchObject({ status: 409 });
  expect(await load(attempt)).toMatchObject([
    { name: 'a', isOtherVersion: false, isSequential: false },
    { name: 'b', isOtherVersion: false, isSequential: true },
  ]);
  await t.end(attempt);
  await expect(store(attempt, { name: 'c' })).rejects.toMatchObject({ status: 409 });
});

test('a failure is replaced by later reports, but a result never is', async () => {
  const { t, claim, store, steps } = await start();
  const { id } = await t.trigger('work');
  const attempt = await claim();
  await store(attempt, { status: 'FAILED', error: failure });
  expect(await steps(id)).toEqual([['a', 'FAILED', null]]);
  expect(await store(attempt, text('done'))).toMatchObject({ isNew: true });
  expect(await store(attempt, { status: 'FAILED', error: failure })).toMatchObject({ isNew: false });
  expect(await steps(id)).toEqual([['a', 'COMPLETED', 'done']]);
});

test('only the code reads the secrets that it returned', async () => {
  const { t, claim, store, load, steps } = await start();
  const { id } = await t.trigger('work');
  const attempt = await claim();
  const output = JSON.stringify({ token: secret, pad: 'x'.repeat(200_000) });
  await store(attempt, { output, outputType: 'application/json' });
  await store(attempt, { name: 'failed', seq: 2, status: 'FAILED', error: { message: `no ${secret}` } });
  const [own, failed] = await load(attempt);
  expect(own).toMatchObject({ output, outputType: 'application/json' });
  expect(failed?.error?.message).toBe('no <redacted>');
  const [other] = await load(attempt, false);
  expect(other).toMatchObject({ outputPresignedUrl: expect.stringMatching(/^address of run_/) });
  const rows = await t.sql`select * from run_steps where run_id = ${id}`;
  const pieces = await t.sql<{ data: Buffer }[]>`select data from packet_pieces`;
  expect(JSON.stringify([rows, pieces.map(({ data }) => data.toString())])).not.toContain(secret);
  await expect(store(attempt, { name: `for ${secret}` })).rejects.toMatchObject({ status: 422 });
  expect(await steps(id)).toHaveLength(2);
});

test('a large result is retained while a step refers to it, and steps are deleted with their run', async () => {
  const { t, env, claim, store } = await start();
  const { id } = await t.trigger('work');
  const attempt = await claim();
  await store(attempt, text('y'.repeat(200_000)));
  await t.end(attempt);
  const packets = async () => (await t.sql`select name from packets where env = ${env}`).length;
  t.engine.clock.shift(3 * 86_400_000);
  while (await packetPruner(t.engine).tick());
  expect(await packets()).toBe(1);
  while (await runPruner(t.engine, 86_400_000).tick());
  expect(await t.statusOf(id)).toBeNull();
  expect(await t.sql`select name from run_steps`).toHaveLength(0);
  while (await packetPruner(t.engine).tick());
  expect(await packets()).toBe(0);
});

test('a replay from a step is created together with the results before it, or not at all', async () => {
  const { t, env, claim, store, steps } = await start();
  const { id } = await t.trigger('work');
  const attempt = await claim();
  await store(attempt, text('one'));
  await store(attempt, { name: 'b', seq: 2, status: 'FAILED', error: failure });
  await store(attempt, { name: 'c', seq: 3, ...text('three') });
  await t.end(attempt);
  const replay = async (fromStep: string, requestKey?: string) => {
    const run = await prepareReplay(t.engine, t.environment, id, { fromStep });
    if (!run) throw new Error('no run');
    return replayFromStep(t.engine, t.dispatch, { ...run, ...(requestKey && { requestKey }) }, fromStep);
  };
  const key = '0198c0de-0000-7000-8000-000000000000';
  const [first, second] = await Promise.all(
    [replay('c', key), replay('c', key)].map((pending) => pending.catch((e) => e)),
  );
  const created = [first, second].find((reply) => typeof reply.id === 'string');
  expect(await steps(created.id)).toEqual([['a', 'COMPLETED', 'one']]);
  expect((await replay('c', key)).id).toBe(created.id);
  expect(await steps((await replay('a')).id)).toEqual([]);
  const [{ count: before } = { count: 0 }] = await t.sql<{ count: number }[]>`select count(*)::int from runs`;
  await expect(replay('d')).rejects.toMatchObject({ status: 422 });
  expect(await t.sql`select count(*)::int from runs where env = ${env}`).toEqual([{ count: before }]);
});
