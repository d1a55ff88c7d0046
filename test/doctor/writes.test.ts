/** A database that answers and does not accept writes, next to a server that uses it. */
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckResult } from '@millrace/contract';
import { examine } from '../../packages/millrace/src/doctor/examine.ts';
import { startPostgres, type RunningPostgres } from '../../packages/postgres/src/cluster/start.ts';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { tryWriting } from '../../packages/server/src/db/try-writing.ts';
import { diagnoseDatabase } from '../../packages/server/src/operations/doctor/diagnose.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type RunningServer } from '../../packages/server/src/server.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { mountSmallDisk, needsMount } from '../support/small-disk.ts';
import { tcpPostgres } from '../support/tcp-postgres.ts';

let postgres: RunningPostgres;
let server: RunningServer;
let sql: Sql;
let disk: string;
let unmount: (() => void) | undefined;
beforeAll(async () => {
  disk = await mkdtemp(join(tmpdir(), 'millrace-doctor-'));
  await chmod(disk, 0o755);
  unmount = mountSmallDisk(disk, 'size=400m,mode=755');
  const dataDir = join(disk, 'data');
  await mkdir(dataDir, { mode: 0o711 });
  postgres = await startPostgres({
    dataDir,
    settings: {
      // The WAL has its space from the start, as on a disk that tables fill.
      min_wal_size: '64MB',
      max_wal_size: '64MB',
      // Patroni passes these on the command line.
      cluster_name: 'batman',
      wal_log_hints: 'on',
      track_commit_timestamp: 'off',
    },
  });
  server = await startServer({
    database: postgres.connection,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 1)),
    log: createLog({ write() {} }),
  });
  sql = connect(postgres.connection, { name: 'test', max: 2, isIndependent: true });
  await sql`
    insert into schedules (env, id, type, task, cron, description, timezone, since, next_nominal, next_at, created_at, active)
    select id, 'sched_late', 'IMPERATIVE', 'report', '0 * * * *', 'hourly', 'UTC', now(), now() + interval '1 day',
           now() + interval '1 day', now(), true from environments limit 1`;
}, 120_000);
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await server?.close();
  await postgres?.stop();
  unmount?.();
  await rm(disk, { recursive: true, force: true });
});

/** The findings of the command with access to the database, and of the server. */
async function findings(timeoutMs = 10_000): Promise<readonly CheckResult[][]> {
  const options = {
    machine: { nodeVersion: process.versions.node, folders: [], listen: undefined, data: undefined },
    masterKeys: [],
    timeoutMs,
    secrets: [],
  };
  const database = { open: async () => ({ database: postgres.connection }), data: undefined };
  const token = server.credentials?.personalAccessToken ?? '';
  const both = [
    await examine({ ...options, database }),
    await examine({ ...options, server: { url: server.url, token } }),
  ];
  return both.map(({ groups }) => groups.flatMap(({ checks }) => checks));
}

const found = (checks: readonly CheckResult[]): CheckResult[] =>
  checks.filter(({ findings: each }) => each.length > 0);

/** The test write leaves neither a table nor a session. */
async function expectNothingLeft(): Promise<void> {
  expect(await sql`select from pg_class where relname like 'millrace_write_test%'`).toHaveLength(0);
  await eventually(
    () => sql`select from pg_stat_activity where application_name = 'millrace doctor'`,
    (sessions) => sessions.length === 0,
    5_000,
  );
}

test('a write succeeds', async () => {
  expect(await tryWriting(sql, 5_000)).toBeUndefined();
  for (const checks of await findings()) expect(found(checks)).toEqual([]);
  await expectNothingLeft();
});

test('a full disk is found, and not the late work that it causes', async (context) => {
  if (!unmount) return context.skip(needsMount);
  const filler = join(disk, 'filler');
  await sql`update schedules set next_at = now() - interval '10 minutes'`;
  await writeFile(filler, Buffer.alloc(500_000_000)).catch(() => {});
  onTestFinished(() => rm(filler, { force: true }));
  for (const checks of await findings()) {
    expect(found(checks)).toMatchObject([
      {
        name: 'database-writes',
        state: 'error',
        findings: [
          {
            what: expect.stringMatching(
              /^The disk of the database is full: could not extend file .*No space left on device\.$/,
            ) as string,
            fix: expect.stringMatching(/^Free some space .*Never delete files in `pg_wal`/) as string,
          },
        ],
      },
    ]);
    expect(checks.find(({ name }) => name === 'schedules-late')).toMatchObject({
      state: 'skipped',
      reason: 'the database does not accept writes',
    });
  }
  await rm(filler);
  await eventually(
    () => findings(),
    (both) => both.every((checks) => found(checks).length === 0),
    20_000,
  );
  await expectNothingLeft();
}, 60_000);

test('a commit that waits for a standby is found in time, and its test write is ended', async () => {
  await sql`alter system set synchronous_standby_names = 'missing'`;
  await sql`select pg_reload_conf()`;
  const restore = async (): Promise<void> => {
    await sql`alter system reset synchronous_standby_names`;
    await sql`select pg_reload_conf()`;
  };
  onTestFinished(restore);
  await eventually(
    () => sql<{ names: string }[]>`select current_setting('synchronous_standby_names') as names`,
    ([row]) => row?.names === 'missing',
    5_000,
  );
  const startedAt = performance.now();
  expect(await tryWriting(sql, 500)).toEqual({ code: undefined, reason: 'IPC/SyncRep' });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  for (const checks of await findings()) {
    expect(found(checks).map(({ name }) => name)).toEqual(['database-writes', 'synchronous-standbys']);
    const [write, standbys] = found(checks);
    expect(write?.findings[0]?.what).toMatch(/waits for a synchronous standby/);
    // Patroni is recognized while it is not connected.
    expect(standbys?.findings[0]?.fix).toMatch(/patronictl list/);
    expect(standbys?.findings[0]?.fix).not.toMatch(/alter system/);
  }
  await expectNothingLeft();
}, 60_000);

test('a database that became read-only is found by a server that still uses it', async () => {
  const readOnly = async (value: string): Promise<void> => {
    await sql.unsafe(`alter system set default_transaction_read_only = ${value}`);
    await sql`select pg_reload_conf()`;
    await eventually(
      () => sql<{ value: string }[]>`select current_setting('default_transaction_read_only') as value`,
      ([row]) => row?.value === value,
      5_000,
    );
  };
  await readOnly('on');
  onTestFinished(() => readOnly('off'));
  await eventually(
    async () => (await fetch(`${server.url}/readyz`)).status,
    (status) => status === 503,
    15_000,
  );
  const [ofDatabase = [], ofServer = []] = await eventually(
    () => findings(),
    // Its background jobs drop the connections of requests with each write that is rejected.
    ([, checks = []]) => checks.every(({ name, state }) => name !== 'server-diagnosis' || state === 'ok'),
    20_000,
  );
  expect(found(ofDatabase)).toMatchObject([
    {
      name: 'database-answers',
      findings: [{ what: expect.stringMatching(/is read-only, like a standby/) as string }],
    },
  ]);
  expect(found(ofServer)).toMatchObject([
    { name: 'server-ready' },
    { name: 'database-writes', findings: [{ what: 'The database is read-only, like a standby.' }] },
  ]);
}, 60_000);

test('a standby is found, and the checks of its WAL are skipped', async () => {
  const standby = await tcpPostgres(['host all boss 127.0.0.1/32 trust'], {}, { standby: true });
  onTestFinished(() => standby.stop());
  const onStandby = connect(`postgresql://boss@127.0.0.1:${standby.port}/postgres`, { name: 'test', max: 3 });
  onTestFinished(() => onStandby.end({ timeout: 1 }));
  const checks = await diagnoseDatabase(onStandby);
  // It was started without `fsync`.
  expect(found(checks).map(({ name }) => name)).toEqual(['database-writes', 'fsync']);
  const skipped = checks.filter(({ reason }) => reason === 'the database is a standby');
  expect(skipped.map(({ name }) => name)).toEqual(['replication-slots', 'replication-lag']);
}, 60_000);
