import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckResult } from '@millrace/contract';
import { takeBackup } from '../../packages/postgres/src/backup/take.ts';
import { machineChecks } from '../../packages/millrace/src/doctor/checks.ts';
import { masterKey } from '../../packages/millrace/src/doctor/connection/master-key.ts';
import { examine, type Examine } from '../../packages/millrace/src/doctor/examine.ts';
import { measureDisk } from '../../packages/millrace/src/doctor/machine/measure.ts';
import { certificate } from '../../packages/millrace/src/doctor/server/certificate.ts';
import { startPostgres, type RunningPostgres } from '../../packages/postgres/src/cluster/start.ts';
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { connect, type Sql } from '../../packages/server/src/db/connect.ts';
import { databaseChecks, processChecks } from '../../packages/server/src/operations/doctor/checks.ts';
import { synchronousStandbys } from '../../packages/server/src/operations/doctor/database/synchronous-standbys.ts';
import { diagnoseDatabase } from '../../packages/server/src/operations/doctor/diagnose.ts';
import { defaultLimits } from '../../packages/server/src/operations/doctor/limits.ts';
import { runChecks } from '../../packages/server/src/operations/doctor/run.ts';
import { startJob } from '../../packages/server/src/jobs/job.ts';
import { JobWatch } from '../../packages/server/src/jobs/watch.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type RunningServer } from '../../packages/server/src/server.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { pgbouncer, startPgbouncer, unlessMissing } from '../support/pgbouncer.ts';
import { hasOpenssl } from '../support/tcp-postgres.ts';
import { startProxy } from './proxy.ts';
import { seedDatabase } from './seed.ts';
import { startStandby } from './standby.ts';

const key = Buffer.alloc(32, 1);

async function temporaryFolder(onEnd: (end: () => Promise<void>) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-doctor-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const found = (checks: readonly CheckResult[]): string[] =>
  checks.filter(({ findings }) => findings.length > 0).map(({ name }) => name);
const named = (checks: readonly CheckResult[], name: string): CheckResult | undefined =>
  checks.find((check) => check.name === name);

const thisMachine = {
  nodeVersion: process.versions.node,
  folders: [],
  listen: undefined,
  data: undefined,
  measure: measureDisk,
  wallClock: Date.now,
};

describe('an installation without faults', () => {
  let postgres: RunningPostgres;
  let server: RunningServer;
  let data: string;
  let base: Examine;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    data = await temporaryFolder((end) => ends.push(end));
    // A separate PostgreSQL, without the sessions of other tests. It has the settings of `millrace start --data`.
    postgres = await startPostgres({ dataDir: data });
    ends.push(() => postgres.stop());
    await writeFile(join(data, 'master.key'), key.toString('base64'), { mode: 0o600 });
    server = await startServer({
      database: postgres.connection,
      port: 0,
      masterKey: masterKeyOf(key),
      log: createLog({ write() {} }),
    });
    ends.push(() => server.close());
    await takeBackup({
      database: postgres.connection,
      cluster: join(data, 'postgres'),
      backups: join(data, 'backups'),
      signal: AbortSignal.timeout(60_000),
    });
    base = {
      machine: {
        ...thisMachine,
        listen: { host: '127.0.0.1', port: server.port },
        data,
        backups: { folder: join(data, 'backups'), maxAgeMs: 3_600_000 },
      },
      database: { open: async () => ({ database: postgres.connection }), data },
      masterKeys: [],
      server: {
        url: server.url,
        token: server.credentials?.personalAccessToken ?? '',
        key: server.credentials?.environments.prod.secretKey ?? '',
      },
      timeoutMs: 10_000,
      secrets: [],
    };
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test('has no findings', async () => {
    const { groups, errors, warnings } = await examine(base);
    const checks = groups.flatMap(({ checks: each }) => each);
    expect(checks.filter(({ findings }) => findings.length > 0)).toEqual([]);
    expect([errors, warnings]).toEqual([0, 0]);
    expect(checks.length).toBeGreaterThan(40);
    const skipped = checks.filter(({ state }) => state === 'skipped').map(({ name }) => name);
    expect(skipped.filter((name) => !['certificate', 'queues-without-runner'].includes(name))).toEqual([]);
  });

  test('the server reports the same without access to its database, to an owner only', async () => {
    const { groups, errors, warnings } = await examine({
      ...base,
      database: undefined,
      server: { ...base.server, url: server.url, key: undefined },
    });
    expect([errors, warnings]).toEqual([0, 0]);
    const ofServer = groups.find(({ group }) => group === 'server')?.checks ?? [];
    expect(ofServer.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['fsync', 'jobs-stuck', 'paused']),
    );
    const stranger = await examine({
      ...base,
      database: undefined,
      server: { url: server.url, token: `svc_pat_${'1'.repeat(40)}` },
    });
    const checks = stranger.groups.flatMap((group) => group.checks);
    expect(named(checks, 'server-diagnosis')).toMatchObject({ state: 'skipped' });
    expect(named(checks, 'fsync')).toBeUndefined();
  });

  test('a proxy that drops upgrades, buffers, and hides host and client is found by the check of each fault', async () => {
    const url = await startProxy(server.url, { dropsUpgrades: true, buffers: true, changesHost: true });
    const { groups } = await examine({
      ...base,
      database: undefined,
      server: { ...base.server, url, maxSilenceMs: 700 },
    });
    expect(found(groups.flatMap(({ checks }) => checks))).toEqual([
      'proxy-websocket',
      'proxy-address',
      'proxy-client-address',
      'proxy-buffering',
    ]);
  });

  test('a server that is not ready, and one whose diagnosis fails, are found', async () => {
    const url = await startProxy(server.url, { breaks: ['/readyz', '/api/v1/doctor'] });
    const { groups } = await examine({
      ...base,
      database: undefined,
      server: { ...base.server, url, key: undefined },
    });
    const checks = groups.flatMap((group) => group.checks);
    expect(found(checks)).toEqual(['server-ready', 'server-diagnosis']);
    expect(named(checks, 'server-diagnosis')?.findings[0]?.what).toBe(
      'The check failed: 502 from a proxy or another program, not from a Millrace server: "Bad Gateway"',
    );
    const nowhere = await startProxy(server.url, { breaks: ['/healthz'] });
    const { groups: behind } = await examine({ ...base, database: undefined, server: { url: nowhere } });
    expect(behind.find(({ group }) => group === 'server')?.checks[0]).toMatchObject({
      name: 'server-answers',
      findings: [
        {
          what: expect.stringMatching(
            /status 502 from a proxy or another program.*"Bad Gateway"\.$/,
          ) as string,
        },
      ],
    });
  });

  test.skipIf(!hasOpenssl)('a certificate that expires soon is found', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      // prettier-ignore
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-keyout', keyFile, '-out', file],
      { stdio: 'ignore' },
    );
    const tls = { key: await readFile(keyFile, 'utf8'), cert: await readFile(file, 'utf8') };
    const url = await startProxy(server.url, { tls });
    const diagnose = () => Promise.reject(new Error('unexpected call'));
    const input = {
      url,
      token: undefined,
      key: undefined,
      maxSilenceMs: 1,
      diagnose,
      requireDiagnosis: diagnose,
    };
    expect(found(await runChecks([certificate], input))).toEqual(['certificate']);
  });

  test('old, damaged, foreign and missing backups are found', async () => {
    const hour = 3_600_000;
    const folder = join(data, 'backups');
    const check = (changes: Partial<Examine['machine']> = {}) =>
      runChecks(machineChecks, { ...thisMachine, data, backups: { folder, maxAgeMs: hour }, ...changes });
    const old = await check({ wallClock: () => Date.now() + 2 * hour });
    expect(found(old)).toEqual(['backup-age']);
    expect(named(old, 'backup-age')?.findings[0]?.what).toMatch(/is 2h .*old: \d{8}T\d{6}Z\.$/);
    expect(found(await check({ wallClock: () => Date.now() + hour / 2 }))).toEqual([]);

    const none = await check({ backups: { folder: join(data, 'nowhere'), maxAgeMs: hour } });
    expect(found(none)).toEqual(['backup-missing']);
    expect(named(none, 'backup-age')).toMatchObject({ state: 'skipped' });

    const other = await temporaryFolder(onTestFinished);
    await mkdir(join(other, 'postgres/global'), { recursive: true });
    await writeFile(join(other, 'postgres/global/pg_control'), Buffer.alloc(8, 7));
    expect(found(await check({ data: other }))).toEqual(['backup-missing']);

    const copy = join(other, 'backups');
    await cp(folder, copy, { recursive: true });
    const [name = ''] = await readdir(join(copy, 'base'));
    await appendFile(join(copy, 'base', name, 'manifest.json'), ' ');
    const damaged = await check({ backups: { folder: copy, maxAgeMs: hour } });
    expect(found(damaged)).toEqual(['backup-missing']);
    expect(named(damaged, 'backup-missing')?.findings[0]?.what).toMatch(/digest of .* does not match/);

    const unknown = await check({ backups: undefined });
    expect(named(unknown, 'backup-missing')).toMatchObject({ state: 'skipped' });
    expect(named(unknown, 'backup-age')).toMatchObject({ state: 'skipped' });
  });

  test('a different or invalid master key is found', async () => {
    const sql = connect(postgres.connection, { name: 'test', max: 1 });
    onTestFinished(() => sql.end());
    for (const text of [Buffer.alloc(32, 2).toString('base64'), 'not-a-key']) {
      const results = await runChecks([masterKey], { texts: [text], file: undefined, sql });
      expect(found(results)).toEqual(['master-key']);
      expect(JSON.stringify(results)).not.toContain(text);
    }
  });

  test('a pause is found, and hides findings about work that waits for its end', async () => {
    const sql = connect(postgres.connection, { name: 'test', max: 1 });
    onTestFinished(() => sql.end());
    await sql`update installation set paused_at = now()`;
    onTestFinished(async () => void (await sql`update installation set paused_at = null`));
    const results = await diagnoseDatabase(sql);
    expect(found(results)).toEqual(['paused']);
    expect(named(results, 'schedules-late')).toMatchObject({ state: 'skipped' });
  });

  test.skipIf(pgbouncer === undefined)(
    `a pooler in transaction mode without a direct address is found${unlessMissing}`,
    async () => {
      const pooler = await startPgbouncer(postgres.connection, 'transaction', { default_pool_size: 6 });
      const { groups } = await examine({
        ...base,
        database: { open: async () => ({ database: pooler.url }), data: undefined },
        masterKeys: [key.toString('base64')],
        server: undefined,
      });
      const checks = groups.flatMap((group) => group.checks);
      expect(found(checks)).toEqual(['database-pooler']);
      expect(named(checks, 'fsync')).toMatchObject({ state: 'ok' });
    },
  );
});

describe('a database with many faults', () => {
  let postgres: RunningPostgres;
  let admin: Sql;
  let sql: Sql;
  let results: CheckResult[];
  const ends: (() => Promise<unknown>)[] = [];
  const limits = {
    idleTransactionMs: 100,
    lockWaitMs: 100,
    transactionAge: 10,
    deadRows: 0,
    bloatBytes: 100_000,
    slotBytes: 0,
    replicationBytes: 0,
  };
  beforeAll(async () => {
    const folder = await temporaryFolder((end) => ends.push(end));
    postgres = await startPostgres({
      dataDir: folder,
      settings: {
        fsync: 'off',
        full_page_writes: 'off',
        synchronous_commit: 'off',
        synchronous_standby_names: 'nobody',
        max_connections: '18',
        autovacuum: 'off',
        archive_mode: 'on',
        archive_command: 'false',
      },
    });
    ends.push(() => postgres.stop());
    admin = connect(postgres.connection, { name: 'test admin', max: 1 });
    ends.push(() => admin.end());
    const database = { ...postgres.connection, database: 'faulty' };
    await admin`select pg_create_physical_replication_slot('forgotten', true)`;
    ends.push(await startStandby(postgres.connection));
    await seedDatabase(admin, database);
    await admin`select pg_switch_wal()`;
    // A server that is connected and does nothing.
    const hanging = connect(database, { name: 'millrace engine', max: 1 });
    ends.push(() => hanging.end());
    await hanging`select 1`;
    const others = connect(database, { name: 'forgetful', max: 2, settings: { statement_timeout: '0' } });
    ends.push(() => others.end());
    let release = (): void => {};
    const holding = new Promise<void>((resolve) => (release = resolve));
    let locked = (): void => {};
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const idle = others.begin(async (tx) => {
      await tx.unsafe('lock table outbox_receipts');
      locked();
      await holding;
    });
    await isLocked;
    const waiting = others`select from outbox_receipts`.then(() => {});
    ends.push(async () => {
      release();
      await Promise.all([idle, waiting]);
    });
    sql = connect(database, { name: 'test', max: 1 });
    ends.push(() => sql.end());
    await eventually(
      () => sql<{ waits: boolean; failed: boolean }[]>`
        select exists (select from pg_stat_activity
                        where wait_event_type = 'Lock' and query_start < clock_timestamp() - interval '150 ms') as waits,
               (select failed_count > 0 from pg_stat_archiver) as failed`,
      ([row]) => row?.waits === true && row.failed,
      10_000,
    );
    results = await diagnoseDatabase(sql, { limits, wallClock: () => Date.now() + 60_000 });
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  const faults = [
    'fsync',
    'full-page-writes',
    'synchronous-commit',
    'synchronous-standbys',
    'max-connections',
    'statement-timeout',
    'extensions',
    'clock-skew',
    'collation-version',
    'migrations',
    'long-transactions',
    'lock-waits',
    'transaction-ids',
    'autovacuum',
    'autovacuum-lag',
    'bloat',
    'replication-slots',
    'replication-lag',
    'wal-archiving',
    'schedules-late',
    'delays-late',
    'queues-without-runner',
    'runners-gone',
    'runners-old',
    'runners-unable',
    'webhooks-failing',
    'storage-growth',
  ];
  test.each(faults)('%s', (name) => {
    const result = named(results, name);
    expect(result?.findings.length, JSON.stringify(result)).toBeGreaterThan(0);
    for (const { what, why, fix } of result?.findings ?? []) {
      expect(what).not.toMatch(/undefined|NaN|null/);
      expect(why).not.toBe('');
      expect(fix).not.toBe('');
    }
  });

  test('finds no other fault, and shows no secret part of an address', () => {
    expect(found(results).toSorted()).toEqual(faults.toSorted());
    expect(JSON.stringify(results)).not.toContain('hidden-part');
  });

  test('findings about replication contain the name, the size and a command', () => {
    expect(named(results, 'replication-slots')?.findings).toMatchObject([
      {
        what: expect.stringMatching(
          /^No client reads the replication slot forgotten, which retains [\d.]+ \w+ of WAL\.$/,
        ) as string,
        fix: expect.stringContaining("select pg_drop_replication_slot('forgotten');") as string,
      },
    ]);
    expect(named(results, 'replication-lag')?.findings).toMatchObject([
      { what: expect.stringMatching(/^The standby \S+ is [\d.]+ \w+ behind\.$/) as string },
    ]);
  });

  test('in a Patroni cluster, the fix for a missing standby is not to clear the setting', async () => {
    const checks = [synchronousStandbys];
    const fix = async () => (await diagnoseDatabase(sql, { checks }))[0]?.findings[0]?.fix;
    expect(await fix()).toMatch(/In a Patroni cluster, never change this setting/);
    const patroni = connect(postgres.connection, { name: 'Patroni heartbeat', max: 1 });
    onTestFinished(() => patroni.end());
    await patroni`select`;
    expect(await fix()).toMatch(/patronictl list/);
    expect(await fix()).not.toMatch(/alter system/);
  });

  test('a role that may not create tables, and an older PostgreSQL', async () => {
    await admin.unsafe('create role stranger');
    await admin.unsafe('create database bare');
    const bare = connect(
      { ...postgres.connection, database: 'bare' },
      { name: 'test', max: 1, settings: { role: 'stranger' } },
    );
    onTestFinished(() => bare.end());
    const inBare = await diagnoseDatabase(bare);
    expect(named(inBare, 'database-rights')?.findings).toMatchObject([
      { fix: expect.stringContaining('stranger') as string },
    ]);
    // No other major release is available here, so the test passes its number.
    const version = databaseChecks.filter(({ name }) => name === 'postgres-version');
    const input = { postgres: { version: '14.11', number: 140_011 } } as never;
    expect(found(await runChecks(version, input))).toEqual(['postgres-version']);
  });

  test('a runner that had no time to send a heartbeat since an outage is not lost yet', async () => {
    const checks = databaseChecks.filter(({ name }) => name === 'runners-gone');
    const sentHeartbeat = (at: string) =>
      sql.unsafe(`update runners set heartbeat_at = ${at} where id = 'runner_gone'`);
    await sql`update lease_watch set resumed_at = now() - interval '1 second'`;
    await sentHeartbeat('now()');
    expect((await diagnoseDatabase(sql, { checks }))[0]).toMatchObject({ state: 'error' });
    await sentHeartbeat(`now() - interval '1 hour'`);
    expect((await diagnoseDatabase(sql, { checks }))[0]).toMatchObject({ state: 'ok' });
  });

  test('migrations that a restored database lacks', async () => {
    await sql`delete from migrations where name = '0013_telemetry.sql'`;
    onTestFinished(async () => void (await sql`insert into migrations (name) values ('0013_telemetry.sql')`));
    const pending = await diagnoseDatabase(sql);
    expect(found(pending)).toContain('migrations-pending');
    expect(named(pending, 'runners-old')).toMatchObject({ state: 'skipped' });
  });
});

test('WAL that is not archived in time is found, although no command fails', async () => {
  const folder = await temporaryFolder(onTestFinished);
  // Works until the file exists in the cluster folder, then hangs.
  const archive_command = 'while test -e hang; do sleep 0.1; done';
  const postgres = await startPostgres({
    dataDir: folder,
    settings: { archive_mode: 'on', archive_command },
  });
  const sql = connect(postgres.connection, { name: 'test', max: 1 });
  onTestFinished(async () => {
    await rm(join(folder, 'postgres/hang'), { force: true });
    await sql.end();
    await postgres.stop();
  });
  const checks = databaseChecks.filter(({ name }) => name === 'wal-archiving');
  const check = (limits = {}) => diagnoseDatabase(sql, { checks, limits }).then(([result]) => result);
  const fillSegment = async (): Promise<void> => {
    await sql`select pg_logical_emit_message(false, 'test', 'x')`;
    await sql`select pg_switch_wal()`;
  };
  await fillSegment();
  await eventually(
    () => sql<{ count: number }[]>`select archived_count::int as count from pg_stat_archiver`,
    ([row]) => (row?.count ?? 0) > 0,
    10_000,
  );
  await writeFile(join(folder, 'postgres/hang'), '');
  for (let segment = 0; segment < 3; segment += 1) await fillSegment();
  expect(await check({ unarchivedMs: 3_600_000 })).toMatchObject({ state: 'ok' });
  const late = await check({ unarchivedMs: 0 });
  expect(late).toMatchObject({ state: 'error' });
  expect(late?.findings[0]?.what).toMatch(/^48\.\d MB of WAL has not been archived\. .* ago\.$|^50\.\d MB/);
  expect(await check({ unarchivedBytes: 40_000_000 })).toMatchObject({ state: 'error' });
}, 60_000);

describe('a machine', () => {
  const machine = (changes: Partial<Examine['machine']>) =>
    runChecks(machineChecks, { ...thisMachine, ...changes }).then(found);

  test('with an old Node', async () => {
    expect(await machine({ nodeVersion: '18.20.4' })).toEqual(['node-version']);
  });

  test('with another program on the port', async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    expect(await machine({ listen: { host: '127.0.0.1', port } })).toEqual(['port']);
  });

  test('with a full disk', async () => {
    const folder = await temporaryFolder(onTestFinished);
    let measure = measureDisk;
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,nr_inodes=4', 'tmpfs', folder], {
        stdio: 'ignore',
      });
      onTestFinished(() => void execFileSync('umount', [folder]));
      await writeFile(join(folder, 'a'), Buffer.alloc(200_000));
      await writeFile(join(folder, 'b'), Buffer.alloc(1_000_000)).catch(() => {});
      await writeFile(join(folder, 'c'), '').catch(() => {});
    } catch {
      // The test may not mount a disk, so it passes the figures of a full one.
      measure = async () => ({ bytes: 262_144, freeBytes: 0, inodes: 4, freeInodes: 0 });
    }
    expect(await machine({ folders: [folder], measure })).toEqual(['disk-space', 'disk-inodes']);
  });

  test('with a key file that every user may read', async () => {
    const data = await temporaryFolder(onTestFinished);
    await writeFile(join(data, 'master.key'), 'k');
    await chmod(join(data, 'master.key'), 0o644);
    expect(await machine({ data })).toEqual(['key-file']);
  });

  test('with a data folder without a database, and a database that does not respond', async () => {
    const data = await temporaryFolder(onTestFinished);
    const open = async () => ({ database: 'postgresql://millrace:s3cret-pass@127.0.0.1:9/millrace' });
    const refused = () => Promise.reject(new Error('opening it would create a database'));
    const empty = await examine({
      machine: thisMachine,
      database: { data, open: refused },
      masterKeys: [],
      timeoutMs: 5_000,
      secrets: [],
    });
    expect(found(empty.groups.flatMap((group) => group.checks))).toEqual(['data-folder']);
    const { groups } = await examine({
      machine: thisMachine,
      database: { data: undefined, open },
      masterKeys: [],
      server: { url: 'http://127.0.0.1:9' },
      timeoutMs: 5_000,
      secrets: ['postgresql://millrace:s3cret-pass@127.0.0.1:9/millrace'],
    });
    const checks = groups.flatMap((group) => group.checks);
    expect(found(checks)).toEqual(['database-answers', 'server-answers']);
    expect(JSON.stringify(checks)).not.toContain('s3cret-pass');
  });
});

const healthyProcess = {
  jobs: new JobWatch(),
  delivery: { missingMs: 0, reopened: 0 },
  runners: { all: () => [] },
  acceptsWrites: true,
};

test('a background job that hangs, and one that fails, are found', async () => {
  const jobs = new JobWatch();
  const hangs = { name: 'hangs', everyMs: 1, tick: () => new Promise<boolean>(() => {}) };
  const fails = { name: 'fails', everyMs: 1, tick: () => Promise.reject(new Error('no')) };
  const works = { name: 'works', everyMs: 1, tick: async () => false };
  jobs.started([hangs, fails, works]);
  const context = {
    clock: { now: Date.now },
    log: createLog({ write() {} }),
    onTick: jobs.observe.bind(jobs),
  };
  startJob(hangs, context);
  const others = [startJob(fails, context), startJob(works, context)];
  onTestFinished(async () => void (await Promise.all(others.map((job) => job.stop()))));
  const [result] = await eventually(
    () =>
      runChecks(processChecks, {
        ...healthyProcess,
        jobs,
        limits: { ...defaultLimits, stuckMs: 100, silenceMs: 0 },
      }),
    ([first]) => (first?.findings.length ?? 0) >= 2,
    5_000,
  );
  expect(result?.findings.map(({ what }) => /"(\w+)"/.exec(what)?.[1])).toEqual(['hangs', 'fails']);
});

test('lost notifications are found', async () => {
  const limits = { ...defaultLimits, silenceMs: 0 };
  const findings = async (missingMs: number) =>
    found(
      await runChecks(processChecks, { ...healthyProcess, delivery: { missingMs, reopened: 3 }, limits }),
    );
  expect(await findings(9_000)).toEqual([]);
  expect(await findings(11_000)).toEqual(['notifications-missing']);
});

test('a check that hangs, or fails, is reported as a finding, and the others complete', async () => {
  const check = { condition: 'something', severity: 'error', why: 'because', fix: 'fix it' } as const;
  const results = await runChecks(
    [
      { ...check, name: 'hangs', find: () => new Promise<never>(() => {}) },
      { ...check, name: 'fails', find: () => Promise.reject(new Error('broken\nat line 1')) },
      { ...check, name: 'works', find: async () => [] },
    ],
    {},
    50,
  );
  expect(results.map(({ state }) => state)).toEqual(['error', 'warning', 'ok']);
  expect(results[0]?.findings[0]?.what).toMatch(/did not end within 0\.05 s/);
  expect(results[1]?.findings[0]?.what).toMatch(/broken$/);
});
