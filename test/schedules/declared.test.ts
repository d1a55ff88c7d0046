/** A cron schedule in the code of a task, from its file through a real runner to its run. */
import { connect } from '../../packages/server/src/db/connect.ts';
import { expect, onTestFinished, test } from 'vitest';
import { startRunner } from '../../packages/millrace/src/serve-folder/start.ts';
import { createProject } from '../../packages/runner/src/runner/testing/project.ts';
import { ApiClient } from '../../packages/sdk/src/client/api-client.ts';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { startServer } from '../../packages/server/src/server.ts';
import { testDatabase } from '../support/database.ts';

const file = `
  import { schedules } from '@millrace/sdk';
  export const everyMinute = schedules.task({
    id: 'every-minute',
    cron: { pattern: '* * * * *', timezone: 'Europe/Paris' },
    run: async ({ timestamp, upcoming, type, timezone }) => ({
      isDate: timestamp instanceof Date,
      toNext: upcoming[0].getTime() - timestamp.getTime(),
      seconds: timestamp.getUTCSeconds(),
      type,
      timezone,
    }),
  });
`;

test('fires in a development environment while its runner is connected, with its times as dates', async () => {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 1 });
  const log = { info() {}, warn() {}, error() {} };
  const masterKey = masterKeyOf(Buffer.alloc(32, 7));
  // Time is moved by up to a minute, which must not count as the loss of the runner.
  const leaseTimes = { leaseMs: 300_000 };
  const server = await startServer({ database: connection, port: 0, masterKey, log, leaseTimes });
  const secretKey = server.credentials?.environments.dev.secretKey ?? '';
  const project = await createProject({ 'tasks/every-minute.ts': file });
  const runner = await startRunner({ url: server.url, secretKey, projectDir: project.dir, watch: false });
  onTestFinished(async () => {
    await runner.stop({ waitMs: 0 });
    await server.close();
    await sql.end();
    await drop();
    await project.remove();
  });
  const client = new ApiClient({ baseURL: server.url, secretKey });
  const listed = async () => (await client.call('listSchedules')).data;
  await expect.poll(async () => (await listed()).length, { timeout: 10_000 }).toBe(1);
  await expect.poll(() => sql`select from runners`, { timeout: 10_000 }).toHaveLength(1);
  const [schedule] = await listed();
  expect(schedule).toMatchObject({ type: 'DECLARATIVE', task: 'every-minute', timezone: 'Europe/Paris' });

  // Half a second before the next minute, so that the clock rather than the test makes it fire.
  server.shiftTime(Date.parse(schedule?.nextRun ?? '') - Date.now() - 500);
  await expect.poll(async () => (await listed())[0]?.lag?.runs, { timeout: 10_000 }).toBe(1);
  const [tick] = await sql<{ run_id: string; lateMs: number }[]>`
    select run_id, (extract(epoch from fired_at - nominal_at) * 1000)::float8 as "lateMs" from schedule_ticks`;
  expect(tick?.lateMs).toBeLessThan(5_000);
  const params = { runId: tick?.run_id ?? '' };
  await expect
    .poll(async () => (await client.call('retrieveRun', { params })).status, { timeout: 10_000 })
    .toBe('COMPLETED');
  const run = await client.call('retrieveRun', { params });
  expect(run.output).toMatchObject({
    isDate: true,
    toNext: 60_000,
    seconds: 0,
    type: 'DECLARATIVE',
    timezone: 'Europe/Paris',
  });
  expect(run.schedule).toMatchObject({ id: schedule?.id, generator: { expression: '* * * * *' } });
});
