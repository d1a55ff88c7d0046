import type { TaskManifest } from '@millrace/contract/runner';
import { onTestFinished } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import type { Environment } from '../../auth/principal.ts';
import { startClock } from '../../db/clock.ts';
import { connect, type Database, type Sql } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import type { Wakes } from '../../db/wake.ts';
import type { VariableCache } from '../../envvars/variable-cache.ts';
import { createRedactor } from '../../envvars/redact/redactor.ts';
import type { Log } from '../../logger.ts';
import { queueNames } from '../../queues/names.ts';
import { promote } from '../../versions/promote.ts';
import { registerVersion } from '../../versions/register.ts';
import { ConnectedRunners } from '../../runners/runners.ts';
import { createRunStats } from '../../telemetry/stats/record.ts';
import { cachedVersions } from '../../versions/versions.ts';
import type { RunChanges } from '../engine/changes.ts';
import { firstCursor } from '../dispatch/claim.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Engine } from '../engine/engine.ts';
import { prepareRun, type TriggerRequest } from '../create/prepare.ts';
import type { Complete, EndedAttempt } from '../complete/attempt.ts';
import { createComplete } from '../complete/complete.ts';
import { createTrigger, type Triggered } from '../create/trigger.ts';
import { declaredPaths } from '../paths/declared.ts';

/** Run operations on a separate database, called by the test: no background jobs, no dispatch, no connections. */
export interface TestEngine {
  readonly engine: Engine;
  readonly sql: Sql;
  readonly database: Database;
  readonly environment: Environment;
  readonly runners: ConnectedRunners;
  readonly dispatch: Dispatch;
  readonly complete: Complete;
  readonly redactor: VariableCache['redactor'];
  /** Makes a version with these tasks current; a manifest may be just an id. */
  register(
    ...tasks: (string | (Partial<TaskManifest> & { id: string }))[]
  ): Promise<{ id: number; version: string }>;
  trigger(task: string, options?: TriggerRequest['options'], payload?: unknown): Promise<Triggered>;
  /** Adds a row in `runners`, like a connection. */
  addRunner(id: string): Promise<void>;
  /** Leases up to `want` runs, like dispatch. */
  claim(
    runner: string,
    versions: readonly number[],
    want: number,
  ): Promise<{ run: string; fence: number; attempt: number }[]>;
  end(attempt: { run: string; fence: number }, outcome?: EndedAttempt['outcome']): ReturnType<Complete>;
  statusOf(run: string): Promise<string | null>;
  promote(): Promise<void>;
  expire(): Promise<number>;
  /** Called no later than the end of the test. */
  close(): Promise<void>;
}

const quiet: Log = { info() {}, warn() {}, error() {} };
const alone: Wakes = { notify() {}, listen() {}, async stop() {} };
const unwatched: RunChanges = { isWatched: () => false, changed() {}, tagged() {}, someChanged() {} };

export async function testEngine(kind: Environment['kind'] = 'prod'): Promise<TestEngine> {
  const database = await testDatabase();
  const sql = connect(database.connection, { name: 'test', max: 6 });
  const clock = await startClock(sql);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    clock.stop();
    closed ??= sql.end({ timeout: 1 }).then(() => database.drop());
    return closed;
  };
  onTestFinished(close);
  // No server watches the leases, so nothing that a test does counts as an outage.
  await sql`update lease_watch set ticked_at = now(), resumed_at = '-infinity', lease = interval '100 years'`;
  const environment = await addEnvironment(sql, kind);
  const engine: Engine = {
    sql,
    clock,
    log: quiet,
    wakes: alone,
    changes: unwatched,
    queues: queueNames(sql),
    versions: cachedVersions(sql),
    stats: createRunStats(),
    paths: declaredPaths(sql),
  };
  const runners = new ConnectedRunners();
  const dispatch: Dispatch = {
    offer: () => undefined,
    wake() {},
    versionsChanged() {},
    slotsFreed() {},
    expect() {},
    async stop() {},
  };
  const withoutSecrets = createRedactor([]);
  const redactor = () => withoutSecrets;
  const complete = createComplete({
    engine,
    engineSql: sql,
    dispatch,
    resume() {},
    runners,
    redactor,
    tracing: undefined,
  });
  const trigger = testTrigger(engine, dispatch);
  const env = environment.id;
  let cursor = firstCursor;
  let hashes = 0;

  return {
    engine,
    sql,
    database: database.connection,
    close,
    environment,
    runners,
    dispatch,
    complete,
    redactor,
    async register(...tasks) {
      const { version } = await registerVersion(engine, environment, {
        contentHash: `content-${++hashes}`,
        tasks: tasks.map((task) => ({
          filePath: 'tasks/test.ts',
          ...(typeof task === 'string' ? { id: task } : task),
        })),
      });
      const id = (await engine.versions.ids(env, [version])).get(version) as number;
      await sql.begin((tx) => promote(tx, engine, env, { id, version }));
      engine.versions.forget(env);
      return { id, version };
    },
    async trigger(task, options, payload) {
      return trigger(await prepareRun(engine, environment, task, { payload, options }));
    },
    async addRunner(id) {
      await sql`
        insert into runners (id, env, host, pid, connection, connected_at, expires_at)
        values (${id}, ${env}, 'test', 1, ${`connection of ${id}`}, now(), ${new Date(clock.now() + 30_000)})`;
    },
    async claim(runner, versions, want) {
      const current = await engine.versions.current(env);
      const pinned = current && versions.includes(current.id) ? [0, ...versions] : [...versions];
      const rows = await sql<{ run_id: string; fence: string; attempt: number; next_cursor: string }[]>`
        select * from claim_runs(${env}, ${runner}, ${pinned}::int[], ${current?.id ?? null}::int, ${want}, ${cursor}::ring_cursor,
                                 ${new Date(clock.now())})`;
      cursor = rows[0]?.next_cursor ?? cursor;
      return rows.map((row) => ({ run: row.run_id, fence: Number(row.fence), attempt: row.attempt }));
    },
    async end({ run, fence }, outcome = { kind: 'completed', output: null, outputType: 'application/json' }) {
      return complete({ env, run, fence, task: 'test', outcome });
    },
    async statusOf(run) {
      const [row] = await sql<
        { status: string | null }[]
      >`select status from runs where env = ${env} and id = ${run}`;
      return row?.status ?? null;
    },
    async promote() {
      await sql`select promote_due(${new Date(clock.now())}, 1000)`;
    },
    async expire() {
      const [row] = await sql<
        { count: number }[]
      >`select expire_due(${new Date(clock.now())}, 1000) as count`;
      return row?.count ?? 0;
    },
  };
}

/** Triggers without secrets and subscribers. */
export const testTrigger = (engine: Engine, dispatch: Dispatch): ReturnType<typeof createTrigger> =>
  createTrigger({ engine, dispatch, redactor: () => createRedactor([]), published() {} });

async function addEnvironment(sql: Sql, kind: Environment['kind']): Promise<Environment> {
  const organization = newId('org');
  const projectRef = newId('proj');
  await sql`insert into organizations (id, name) values (${organization}, 'Test')`;
  const [project] = await sql<{ id: number }[]>`
    insert into projects (ref, organization_id, name) values (${projectRef}, ${organization}, 'Test') returning id`;
  const publicId = newId('env');
  const projectId = project?.id ?? 0;
  const [row] = await sql<{ id: number }[]>`
    insert into environments (public_id, project_id, kind) values (${publicId}, ${projectId}, ${kind}) returning id`;
  return { id: row?.id ?? 0, publicId, kind, branch: null, projectId, projectRef };
}
