import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { startDev, temporaryProject, type Folder, type Ready, type Running } from './command.ts';
import { finished } from './in-process.ts';

const taskFile = `
import { createRequire } from 'node:module';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { logger, schedules, task, wait } from '@millrace/sdk';
registerInstrumentations({ instrumentations: [new PgInstrumentation()] });
// Imported after the instrumentation, which a static import would precede.
const { Client } = createRequire(import.meta.url)('pg');

export const mail = task({ id: 'mail', run: async () => 'sent' });

export const order = task({
  id: 'order',
  description: 'Ships an order',
  retry: { maxAttempts: 3, minTimeoutInMs: 300, maxTimeoutInMs: 300, randomize: false },
  run: async ({ database }: { database: any }, { ctx }) => {
    logger.info('begins \\u001b[31m red');
    if (ctx.attempt.number < 3) throw new Error('no database ' + 'x'.repeat(300));
    const { username: user, ...rest } = database;
    const client = new Client(typeof database === 'string' ? { connectionString: database } : { user, ...rest });
    await client.connect();
    await client.query('select 41 + 1 as stock');
    await client.end();
    await wait.for({ seconds: 1 });
    await mail.triggerAndWait({});
    await mail.trigger({});
    return 'shipped';
  },
});

export const nightly = schedules.task({ id: 'nightly', cron: '0 3 * * *', run: async () => {} });
`;

describe('the events of a run', () => {
  let project: Folder;
  let dev: Running & { ready: Ready };

  beforeAll(async () => {
    project = await temporaryProject({ 'tasks/order.ts': taskFile });
    dev = await startDev(project.path);
  }, 60_000);
  afterAll(async () => {
    dev?.kill('SIGKILL');
    await dev?.exitCode;
    await project?.remove();
  });

  const cli = (...args: string[]) => finished(args, { cwd: project.path });
  const json = async (...args: string[]) => {
    const { stdout } = await cli(...args, '--json');
    return stdout.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  test('the timeline alone shows three attempts, a query through pg, a wait and two children on 80 columns', async () => {
    const { connection, drop } = await testDatabase();
    const done = await json(
      'trigger',
      'order',
      '--wait',
      '--payload',
      JSON.stringify({ database: connection }),
    );
    await drop();
    const id = String(done.at(-1)?.['id']);
    expect(done.at(-1)).toMatchObject({ status: 'COMPLETED' });

    const { stdout } = await cli('runs', 'show', id, '--timeline');
    const lines = stdout.split('\n');
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('\u001b[31m');
    // Without the time and bar columns.
    const labels = lines.slice(2).map((line) => line.replace(/^.*?(?:[━┄·]+ *|^ {20,})/u, '').trim());
    const order = [
      /^order COMPLETED run_/,
      /^attempt 1 FAILED on /,
      /^Error: no database x+…$/,
      /^info: begins ␛\[31m red$/,
      /^pause before the next attempt$/,
      /^attempt 2 FAILED on /,
      /^pause before the next attempt$/,
      /^attempt 3 COMPLETED on /,
      /^pg\.query:SELECT: select 41/,
      /^waits for a time$/,
      /^mail COMPLETED run_/,
      /^attempt 1 COMPLETED on /,
      /^waits for a run: COMPLETED run_/,
      /^mail /,
    ];
    let from = 0;
    for (const pattern of order) {
      const index = labels.findIndex((line, at) => at >= from && pattern.test(line));
      expect(index, `${pattern.source} in\n${stdout}`).toBeGreaterThanOrEqual(from);
      from = index + 1;
    }

    const [timeline] = await json('runs', 'show', id, '--timeline', '--depth', '0', '--lines', '0');
    const kinds = (timeline as unknown as { entries: { kind: string }[] }).entries.map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['run', 'waiting', 'attempt', 'wait', 'span']));

    const output = (await cli('runs', 'show', id)).stdout;
    expect(output).toMatch(/^attempt +status +waited +took +runner +version +error$/m);
    expect(output).toMatch(/^1 +FAILED .*Error: no database/m);
    expect(output).toMatch(/^3 +COMPLETED/m);
    const [run] = await json('runs', 'show', id);
    expect(run?.['attempts']).toMatchObject([
      { number: 1, status: 'FAILED', retryDelayMs: expect.any(Number), runner: { pid: expect.any(Number) } },
      { number: 2, status: 'FAILED' },
      { number: 3, status: 'COMPLETED', waitedFor: [{ kind: 'retry' }, { kind: 'queue' }] },
    ]);
  }, 60_000);

  test('tasks, counts, ticks and rejected options', async () => {
    expect((await cli('tasks', 'list')).stdout).toMatch(/^order +task\/order .*Ships an order$/m);
    expect((await cli('tasks', 'list')).stdout).toMatch(/^nightly .*cron 0 3 \* \* \*/m);
    const [mail] = await json('tasks', 'show', 'mail');
    expect(mail).toMatchObject({ id: 'mail', recent: { completed: 2, failed: 0, successRate: 1 } });
    expect((await cli('tasks', 'show', 'mail')).stdout).toMatch(/^success rate +100\.0 %$/m);
    expect(await cli('tasks', 'show', 'nothing')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/no task "nothing"/),
    });
    expect(await json('runs', 'list', '--count', '--task', 'mail')).toEqual([{ count: 2, isExact: true }]);
    expect((await cli('runs', 'list', '--count', '--task', 'mail')).stdout).toBe('2');
    const [schedule] = await json('schedules', 'list');
    expect((await cli('schedules', 'ticks', String(schedule?.['id']))).stdout).toBe('None.');
    expect((await cli('runs', 'show', 'run_1', '--depth', '1')).exitCode).toBe(2);
    expect((await cli('runs', 'show', 'run_1', '--timeline')).exitCode).toBe(1);
    expect((await cli('errors', 'history', 'error_0123456789abcdef')).exitCode).toBe(1);
  }, 60_000);
});
