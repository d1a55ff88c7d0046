import { setTimeout as pause } from 'node:timers/promises';
import { configure, runs, schedules, tasks } from '@millrace/sdk';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { followEvents } from '../sessions/session-server.ts';
import { testDatabase } from '../support/database.ts';
import { pgbouncer, startPgbouncer, unlessMissing } from '../support/pgbouncer.ts';
import { startProject } from '../support/project.ts';
import { testServer } from '../support/server.ts';

const files = {
  'tasks/work.ts': `
    import { metadata, schedules, task, wait } from '@millrace/sdk';
    export const add = task({ id: 'add', run: async ({ n }: { n: number }) => {
      console.log('adding', n);
      metadata.set('n', n);
      return n + 1;
    } });
    export const family = task({ id: 'family', run: async () => {
      const made = await add.batchTriggerAndWait([{ payload: { n: 1 } }, { payload: { n: 2 } }]);
      return made.runs.map((run) => run.ok && run.output);
    } });
    export const sleepy = task({ id: 'sleepy', run: async () => { await wait.for({ seconds: 2 }); return 'up'; } });
    export const flaky = task({
      id: 'flaky',
      retry: { maxAttempts: 2, minTimeoutInMs: 50 },
      run: async (_: unknown, { ctx }) => { if (ctx.attempt.number === 1) throw new Error('once'); return ctx.attempt.number; },
    });
    export const tick = schedules.task({ id: 'tick', run: async () => 'tock' });
  `,
};

const patience = { timeout: 40_000 };

describe.skipIf(pgbouncer === undefined)(`with PgBouncer${unlessMissing}`, () => {
  test.each(['transaction', 'session'] as const)(
    'two servers and a runner behind %s mode work as without it, and log no warnings or errors',
    async (mode) => {
      const { connection, drop } = await testDatabase();
      onTestFinished(drop);
      const pooler = await startPgbouncer(connection, mode, {
        default_pool_size: mode === 'session' ? 60 : 6,
      });
      const options = {
        database: pooler.url,
        ...(mode === 'transaction' && { directDatabase: pooler.directUrl }),
        reveal: true,
        // Longer than the time shift below.
        leaseTimes: { leaseMs: 120_000 },
      };
      const first = await testServer(options);
      const second = await testServer(options);
      await startProject(first, files);
      // All requests go to the server without a runner: the other first learns of them through notifications.
      configure({ baseURL: second.url, secretKey: second.keys.prod, retry: { maxAttempts: 1 } });
      const outcome = async (id: string) => {
        await expect.poll(async () => (await runs.retrieve(id)).isCompleted, patience).toBe(true);
        const { status, output } = await runs.retrieve(id);
        return { status, output };
      };
      const watched = await followEvents(`${second.url}/realtime/v1/runs/events?tags=seen`, {
        authorization: `Bearer ${second.keys.prod}`,
      });
      const triggered = await Promise.all(
        Array.from({ length: 60 }, (_, n) => tasks.trigger('add', { n }, { tags: ['seen'] })),
      );
      for (const [n, { id }] of triggered.entries()) {
        expect(await outcome(id)).toEqual({ status: 'COMPLETED', output: n + 1 });
      }
      expect((await watched.next())?.event).toBe('run');

      const others = await Promise.all([
        tasks.trigger('family', {}),
        tasks.trigger('sleepy', {}),
        tasks.trigger('flaky', {}),
        tasks.trigger('add', { n: 9 }, { delay: '1s' }),
      ]);
      const { runs: batched } = await tasks
        .batchTrigger('add', [{ payload: { n: 20 } }, { payload: { n: 21 } }])
        .then(
          async ({ batchId }) => (await second.ask(`/api/v2/batches/${batchId}`)).body as { runs: string[] },
        );
      expect(await Promise.all([...others.map(({ id }) => id), ...batched].map(outcome))).toEqual(
        [[2, 3], 'up', 2, 10, 21, 22].map((output) => ({ status: 'COMPLETED', output })),
      );

      const session = await second.ask('/api/v1/sessions', {
        method: 'POST',
        body: {
          type: 'chat',
          externalId: 'c',
          taskIdentifier: 'add',
          triggerConfig: { basePayload: { n: 1 } },
        },
      });
      expect(session.status).toBe(201);
      const reader = await followEvents(`${first.url}/realtime/v1/sessions/c/out`, {
        authorization: `Bearer ${first.keys.prod}`,
      });
      for (let n = 0; n < 30; n++) {
        const { body } = await second.ask('/realtime/v1/sessions/c/out/append', {
          method: 'POST',
          body: `"${n}"`,
        });
        expect(body).toEqual({ ok: true, seq: n });
      }
      expect(await reader.next()).toBeDefined();

      const { id } = await schedules.create({ task: 'tick', cron: '* * * * *', deduplicationKey: 'k' });
      first.shiftTime(60_000);
      const fired = async () =>
        (await second.ask(`/api/v1/runs?filter[schedule]=${id}`)).body.data.length as number;
      await expect.poll(fired, patience).toBeGreaterThan(0);

      const admin = connect(connection, { name: 'test', max: 1 });
      onTestFinished(() => admin.end());
      expect(
        await admin`select from pg_stat_activity where query ilike 'listen %' and datname = current_database()`,
      ).toHaveLength(2);
      // Time for some rounds of periodic jobs.
      await pause(5_000);
      const odd = [...first.logged, ...second.logged].filter((line) => /"level":"(warn|error)"/.test(line));
      expect(odd).toEqual([]);
      expect(pooler.log()).not.toMatch(/ERROR|unsupported|prepared statement/);
      const pooledLine = first.logged.find((line) => line.includes('database.pooled'));
      expect(JSON.parse(pooledLine ?? '{}')).toMatchObject({ mode, namedStatements: mode === 'session' });
    },
    120_000,
  );
});
