/** Upgrades from each earlier version to the current one, under load, with the packed packages of the earlier version. */
import { randomBytes } from 'node:crypto';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runningConnection } from '../../packages/postgres/src/cluster/running.ts';
import { connect, type Database, type Sql } from '../../packages/server/src/db/connect.ts';
import type { Running } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { emptyDatabase } from '../support/database.ts';
import { startBalancer, type Balancer } from './balancer.ts';
import { present, startInstallation, type Installation } from './installation.ts';
import { installRelease, reasonToSkip, releases, type Release } from './release.ts';
import { startWork, type Work } from './work.ts';

/** An address of the database for `DATABASE_URL`. */
function addressOf(database: Database): string {
  if (typeof database === 'string') return database;
  const { host, port, username, database: name } = database;
  return `postgresql://${username}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
}

async function installation(): Promise<Installation> {
  const installed = await startInstallation();
  onTestFinished(() => installed.end());
  return installed;
}

interface Loaded {
  readonly secretKey: string;
  readonly balancer: Balancer;
  readonly runner: Running;
  readonly work: Work;
}

/** A server behind a load balancer, with a runner, deployed tasks, and work that has not started. All of it is of this release. */
async function loaded(
  installed: Installation,
  release: Release,
  server: Awaited<ReturnType<Installation['serve']>>,
): Promise<Loaded> {
  const { secretKey } = server.ready.environments.prod;
  const balancer = await startBalancer([server.ready.url]);
  onTestFinished(() => balancer.close());
  const runner = await installed.work(release, balancer.url, secretKey);
  await installed.deploy(release, balancer.url, secretKey);
  const work = await startWork(release.nodeModules, balancer.url, secretKey);
  onTestFinished(() => work.end());
  await prepare(installed, release, work, ['--url', balancer.url, '--key', secretKey]);
  return { secretKey, balancer, runner, work };
}

/** Log lines of a process that an operator would investigate, except failed attempts and requeued runs after a lost connection. */
const complaints = (process: Running): string[] =>
  [...process.stderr].filter(
    (line) =>
      /"level":"(?:warn|error|fatal)"|^millrace:/.test(line) &&
      !/"(?:attempt\.ended|runs\.rescued|runner\.disconnected)"/.test(line),
  );

const schedules = ['before', 'during', 'after'];

/** A secret, and schedules, each of which misses five minutes at one stage of the upgrade. */
async function prepare(installed: Installation, release: Release, work: Work, at: readonly string[]) {
  expect(
    await installed.run(release, ['env', 'set', 'PASSWORD=open sesame', '--secret', ...at]),
  ).toMatchObject({
    exitCode: 0,
  });
  for (const name of schedules) {
    const args = [
      'schedules',
      'create',
      'tick',
      '* * * * *',
      '--deduplication-key',
      name,
      '--missed',
      'all:1h',
    ];
    const externalId = `${name}|${work.journal}`;
    expect(await installed.run(release, [...args, '--external-id', externalId, ...at])).toMatchObject({
      exitCode: 0,
    });
  }
}

/** As if five minutes had passed without a server. */
const moveBack = (sql: Sql, name: string) =>
  sql`update schedules set since = since - interval '9 min', next_at = next_at - interval '5 min', next_nominal = next_nominal - interval '5 min'
       where deduplication_key = ${name}`;

/** Waits until this much more work is acknowledged. */
const goesOn = async (work: Work, count = 20): Promise<void> => {
  const before = work.acknowledged();
  await expect
    .poll(() => work.acknowledged(), { timeout: 60_000, interval: 50 })
    .toBeGreaterThan(before + count);
};

/** Waits until a schedule has fired its missed ticks. */
const firesMissed = async (sql: Sql, name: string): Promise<void> => {
  const ticks = () =>
    sql`select from schedule_ticks t join schedules s on s.id = t.schedule_id and s.env = t.env
         where s.deduplication_key = ${name}`;
  await expect.poll(async () => (await ticks()).count, { timeout: 60_000 }).toBeGreaterThanOrEqual(5);
};

/** Adds the last log lines of these processes to the error, because they are lost when the test ends. */
const withLogs =
  (processes: Readonly<Record<string, Running>>) =>
  (error: Error): never => {
    const logs = Object.entries(processes).map(([name, { stderr }]) =>
      [`${name}:`, ...[...stderr].slice(-60)].join('\n'),
    );
    throw new Error(`${error.message}\n\n${logs.join('\n\n')}`, { cause: error });
  };

/** Waits until every run has ended, then compares their effects with the acknowledged calls. */
async function expectAllDone(work: Work, sql: Sql): Promise<void> {
  await work.completeTokens();
  // With the row of the current place of each run (schema/0005_runs.sql), which shows the reason for its wait.
  const unfinished = () =>
    sql`select r.id, r.task, r.status, to_jsonb(l) as lease, to_jsonb(s) as suspended, to_jsonb(q) as queued, to_jsonb(d) as delayed,
               to_jsonb(p) as pending_version,
               (select jsonb_agg(to_jsonb(w)) from waits w where w.env = r.env and w.run_id = r.id) as waits
          from runs r
          left join leases l on l.env = r.env and l.run_id = r.id
          left join suspended s on s.env = r.env and s.run_id = r.id
          left join queued q on q.env = r.env and q.run_id = r.id
          left join delayed d on d.env = r.env and d.run_id = r.id
          left join pending_version p on p.env = r.env and p.run_id = r.id
         where r.status is null or r.status not in ('COMPLETED', 'FAILED') order by r.id limit 5`;
  await expect.poll(unfinished, { timeout: 60_000, interval: 250 }).toEqual([]);
  expect(await work.differences()).toEqual([]);
  // Only runs of `broken` fail, and every acknowledged run exists.
  expect(await sql`select id, task, error from runs where status = 'FAILED' and task <> 'broken'`).toEqual(
    [],
  );
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from runs where id = any (${[...work.runs]}::text[])`;
  expect(row?.count).toBe(work.runs.size);
  for (const name of schedules) {
    const lines = await work.ticks(name);
    const ticks = await sql<{ at: Date }[]>`
      select nominal_at as at from schedule_ticks t join schedules s on s.id = t.schedule_id and s.env = t.env
       where s.deduplication_key = ${name} order by 1`;
    expect(ticks.length).toBeGreaterThanOrEqual(5);
    expect(lines.toSorted()).toEqual(ticks.map(({ at }) => `tick ${name} ${at.toISOString()}`));
  }
  expect(await work.repeat()).toEqual([]);
}

/** An older server does not start on a schema with newer files, but starts on one without: the functions serve both. */
async function expectStartOf(
  installed: Installation,
  old: Release,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const [known, applied] = await Promise.all([schemaFilesOf(old), schemaFilesOf(present)]);
  if (applied.length > known.length) {
    expect(await installed.run(old, ['start', ...args, '--port', '0'], env)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('migrated by a newer Millrace') as string,
    });
    return;
  }
  const again = await installed.serve(old, args, env);
  expect((await fetch(`${again.ready.url}/readyz`)).status).toBe(200);
  again.kill('SIGTERM');
  expect(await again.exitCode).toBe(0);
}

const schemaFilesOf = ({ nodeModules }: Release): Promise<string[]> =>
  readdir(join(nodeModules, '@millrace/server/sql/schema'));

describe.each(releases)('from $version', ({ commit }) => {
  const reason = reasonToSkip(commit);
  if (reason !== undefined) console.warn(`Upgrades are not tested: ${reason}.`);
  let old: Release;
  beforeAll(async () => {
    if (reason === undefined) old = await installRelease(commit);
  }, 600_000);

  test.skipIf(reason !== undefined)(
    'servers and runners on an outside PostgreSQL are replaced one by one, and nothing is lost, rejected or duplicated',
    async () => {
      const { connection, drop } = await emptyDatabase();
      onTestFinished(drop);
      const installed = await installation();
      const sql = connect(connection, { name: 'test', max: 2 });
      onTestFinished(() => sql.end({ timeout: 1 }));
      const env = {
        DATABASE_URL: addressOf(connection),
        MILLRACE_MASTER_KEY: randomBytes(32).toString('base64'),
      };
      const oldServer = await installed.serve(old, [], env);
      const { secretKey, balancer, runner: oldRunner, work } = await loaded(installed, old, oldServer);

      work.begin();
      await moveBack(sql, 'before');
      await firesMissed(sql, 'before');
      await goesOn(work);
      // The new server migrates, and both serve.
      const newServer = await installed.serve(present, [], env);
      balancer.targets = [oldServer.ready.url, newServer.ready.url];
      await moveBack(sql, 'during');
      await firesMissed(sql, 'during');
      await goesOn(work);
      // New connections are stopped first, then the signal is sent.
      balancer.targets = [newServer.ready.url];
      oldServer.kill('SIGTERM');
      expect(await oldServer.exitCode).toBe(0);
      await moveBack(sql, 'after');
      await work.completeTokens();
      await firesMissed(sql, 'after');
      await goesOn(work);
      // Runners are replaced after the servers.
      const newRunner = await installed.work(present, balancer.url, secretKey);
      oldRunner.kill('SIGTERM');
      expect(await oldRunner.exitCode).toBe(0);
      await goesOn(work);
      await installed.deploy(present, balancer.url, secretKey);
      await goesOn(work);
      await work.stop();
      expect(work.failures).toEqual([]);
      await expectAllDone(work, sql).catch(withLogs({ oldServer, newServer, oldRunner, newRunner }));
      // Older servers read steps with `*`: a new column fails such a request once per connection, and the SDK repeats it.
      const isKnown = (line: string): boolean => line.includes('cached plan must not change result type');
      expect(complaints(oldServer).filter((line) => !isKnown(line))).toEqual([]);
      for (const process of [newServer, oldRunner, newRunner]) expect(complaints(process)).toEqual([]);

      await expectStartOf(installed, old, [], env);
    },
    180_000,
  );

  test.runIf(isLong && reason === undefined)(
    'a server on the embedded PostgreSQL is stopped and started by the current version, which continues where the other stopped',
    async () => {
      const installed = await installation();
      const data = join(installed.folder, 'data');
      const oldServer = await installed.serve(old, ['--data', 'data']);
      const { secretKey, balancer, runner: oldRunner, work } = await loaded(installed, old, oldServer);
      const query = async <R>(act: (sql: Sql) => Promise<R>): Promise<R> => {
        const sql = connect((await runningConnection(data)) ?? '', { name: 'test', max: 1 });
        return act(sql).finally(() => sql.end());
      };

      work.begin();
      await query((sql) => moveBack(sql, 'before'));
      await query((sql) => firesMissed(sql, 'before'));
      await goesOn(work);
      await query((sql) => moveBack(sql, 'during'));
      oldServer.kill('SIGTERM');
      expect(await oldServer.exitCode).toBe(0);
      await cp(data, join(installed.folder, 'copy'), { recursive: true });
      const newServer = await installed.serve(present, ['--data', 'data']);
      balancer.targets = [newServer.ready.url];
      await query((sql) => moveBack(sql, 'after'));
      await query((sql) => firesMissed(sql, 'after'));
      await goesOn(work);
      const newRunner = await installed.work(present, balancer.url, secretKey);
      oldRunner.kill('SIGTERM');
      expect(await oldRunner.exitCode).toBe(0);
      await installed.deploy(present, balancer.url, secretKey);
      await goesOn(work);
      await work.stop();
      const processes = { oldServer, newServer, oldRunner, newRunner };
      await query((sql) => expectAllDone(work, sql)).catch(withLogs(processes));
      for (const process of [newServer, newRunner]) expect(complaints(process)).toEqual([]);
      newServer.kill('SIGTERM');
      expect(await newServer.exitCode).toBe(0);

      await expectStartOf(installed, old, ['--data', 'data'], {});
      // The copy from before the upgrade works with the old version in any case.
      const back = await installed.serve(old, ['--data', 'copy']);
      expect((await fetch(`${back.ready.url}/readyz`)).status).toBe(200);
    },
    180_000,
  );
});
