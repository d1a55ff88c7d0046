/** Millrace, as its user runs it: `millrace start`, `millrace work --env prod`, and the SDK with a secret key, over HTTP. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { end, ended, firstLine, start } from '../child.ts';
import { now } from '../clock.ts';
import { command, profilesFolder, projectFolder } from '../folders.ts';
import { Tables, type Databases } from '../postgres.ts';
import type { Runner, RunnerOptions, System } from '../system.ts';
import { promote } from '../../../test/support/promote.ts';

interface Ready {
  readonly url: string;
  readonly environments: { readonly prod: { readonly secretKey: string } };
}

export interface MillraceOptions {
  /** Each concurrent caller has its own client, as if in a separate process, so no request is shared. */
  readonly alone: boolean;
  /** Has Node write a processor profile of server, runner and executors when they end. */
  readonly profiled: boolean;
}

const pendingQuery = `select (select count(*) from queued) + (select count(*) from leases)
  + (select count(*) from delayed) + (select count(*) from pending_version)`;

/** The counters of PostgreSQL: time in functions, kinds of updates, write-ahead log. */
const inDatabase = [
  `select funcname, calls, round(total_time) as total_ms, round(self_time) as self_ms,
          round((total_time * 1000 / calls)::numeric) as us_a_call from pg_stat_user_functions order by self_time desc`,
  `select relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del, n_dead_tup,
          seq_tup_read, idx_tup_fetch, autovacuum_count, autoanalyze_count
     from pg_stat_user_tables where n_tup_ins > 0 order by n_tup_ins + n_tup_upd desc limit 8`,
  `select indexrelname, idx_scan, idx_tup_read, idx_tup_fetch from pg_stat_user_indexes order by idx_tup_read desc limit 10`,
];

async function countFunctions(database: string): Promise<void> {
  const set = new Tables(database);
  await set.rows(`alter database bench_millrace set track_functions = 'all'`);
  await set.close();
}

export function millrace(databases: Databases, { alone, profiled }: MillraceOptions): System {
  let server: ChildProcess | undefined;
  let tables: Tables | undefined;
  let ready: Ready | undefined;

  const environment = (more: Readonly<Record<string, string>>, role: string): NodeJS.ProcessEnv => {
    const folder = join(profilesFolder, role);
    if (profiled) mkdirSync(folder, { recursive: true });
    const node = profiled ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` } : {};
    // The command as its user runs it, with the settings of its first line, on the Node of this process.
    const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`;
    return { ...process.env, PATH, ...node, ...more };
  };

  const startRunner = async ({ concurrency, hang, socket }: RunnerOptions): Promise<Runner> => {
    if (!ready) throw new Error('the server has not been started');
    const limit =
      concurrency !== undefined && concurrency > 100 ? ['--concurrency', String(concurrency)] : [];
    const env = {
      MILLRACE_API_URL: ready.url,
      MILLRACE_SECRET_KEY: ready.environments.prod.secretKey,
      BENCH_SOCKET: socket,
      BENCH_HANG: hang ? '1' : '0',
    };
    const spawnedAt = now();
    const child = start(command, ['work', '--env', 'prod', '--dir', projectFolder, '--json', ...limit], {
      env: environment(env, 'runner'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    await firstLine(child);
    await promote(ready.url, ready.environments.prod.secretKey);
    return {
      pid: child.pid ?? 0,
      spawnedAt,
      startedAt: spawnedAt,
      async kill() {
        child.kill('SIGKILL');
        await ended(child);
      },
      stop: () => end(child),
    };
  };

  const stop = async (): Promise<void> => {
    if (server) await end(server);
    if (profiled && tables) for (const query of inDatabase) console.table(await tables.rows(query));
    await tables?.close();
    server = tables = undefined;
  };

  return {
    name: alone ? 'millrace:alone' : 'millrace',
    async begin() {
      await stop();
      const database = await databases.fresh('bench_millrace');
      if (profiled) await countFunctions(database);
      server = start(command, ['start', '--port', '0', '--json', '--show-secrets', '--log-level', 'warn'], {
        env: environment(
          { DATABASE_URL: database, MILLRACE_MASTER_KEY: randomBytes(32).toString('base64') },
          'server',
        ),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      ready = (await firstLine(server)) as Ready;
      tables = new Tables(database);
      // Registers the version: runs of a task that no version has would wait for one.
      await (await startRunner({ profile: 'tuned', socket: '/nowhere' })).stop();
      return { url: ready.url, key: ready.environments.prod.secretKey, alone: alone ? 'yes' : '' };
    },
    startRunner,
    pending: async () => (await tables?.count(pendingQuery)) ?? NaN,
    completed: async () =>
      (await tables?.count(`select count(*) from runs where status = 'COMPLETED'`)) ?? NaN,
    async clone(n) {
      // Ids and order as if they had come ten a millisecond, the last one now.
      const id = `left(t.%, 4) || lpad(to_hex(1000000000 + g / 10), 8, '0') || left(md5(g::text), 16)`;
      const order = `t.sort_key - ${Math.ceil(n / 10)} + g / 10`;
      await tables?.clone('runs', n, {
        id: id.replace('%', 'id'),
        sort_key: order,
        created_at: `t.created_at - (${Math.ceil(n / 10)} - g / 10) * interval '1 millisecond'`,
        request_key: 'null::uuid',
        payload: `jsonb_set(t.payload::jsonb, '{i}', to_jsonb(g))::text`,
      });
      await tables?.clone('queued', n, { run_id: id.replace('%', 'run_id'), sort_key: order });
      await tables?.vacuum();
    },
    serverPid: () => server?.pid ?? null,
    databasePid: () => databases.pid,
    end: stop,
  };
}
