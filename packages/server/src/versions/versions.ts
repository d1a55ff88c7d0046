import type { TaskManifest } from '@millrace/contract/runner';
import type { Sql } from '../db/connect.ts';

/** What an environment's current version knows. */
export interface CurrentVersion {
  readonly id: number;
  readonly version: string;
  readonly tasks: ReadonlyMap<string, TaskManifest>;
}

export interface Versions {
  /**
   * The current version of an environment. At most a second old, and refreshed at once where it is registered; whoever acts on
   * an old one is put right later (a runner that lacks the task gives the run back).
   */
  current(env: number): CurrentVersion | undefined | Promise<CurrentVersion | undefined>;
  /** Forgets what is known of an environment: a version was registered or promoted. */
  forget(env: number): void;
  /** The name of a version, such as `20261121.3`. */
  name(id: number): string | Promise<string>;
  /** The ids of those of these versions that exist in the environment. */
  ids(env: number, versions: readonly string[]): Promise<Map<string, number>>;
}

const freshMs = 1_000;

export function knownVersions(sql: Sql): Versions {
  interface Known {
    readonly value: CurrentVersion | undefined;
    readonly at: number;
    refreshing: boolean;
  }
  const known = new Map<number, Known>();
  const loading = new Map<number, Promise<CurrentVersion | undefined>>();
  const names = new Map<number, string>();

  const load = (env: number): Promise<CurrentVersion | undefined> => {
    const underWay = loading.get(env);
    if (underWay) return underWay;
    const at = performance.now();
    const promise = readCurrent(sql, env, known.get(env)?.value)
      .then((value) => {
        if (loading.get(env) === promise) known.set(env, { value, at, refreshing: false });
        return value;
      })
      .finally(() => {
        if (loading.get(env) === promise) loading.delete(env);
      });
    loading.set(env, promise);
    return promise;
  };

  return {
    current(env) {
      const entry = known.get(env);
      if (!entry) return load(env);
      if (performance.now() - entry.at > freshMs && !entry.refreshing) {
        entry.refreshing = true;
        load(env).catch(() => {
          entry.refreshing = false;
        });
      }
      return entry.value;
    },
    forget(env) {
      known.delete(env);
      loading.delete(env);
    },
    name(id) {
      return (
        names.get(id) ??
        sql<{ version: string }[]>`select version from versions where id = ${id}`.then(([row]) => {
          if (!row) throw new Error(`version ${id} does not exist`);
          names.set(id, row.version);
          return row.version;
        })
      );
    },
    async ids(env, versions) {
      const rows = await sql<{ id: number; version: string }[]>`
        select id, version from versions where env = ${env} and version = any(${[...versions]}::text[])`;
      return new Map(rows.map((row) => [row.version, row.id]));
    },
  };
}

async function readCurrent(
  sql: Sql,
  env: number,
  last: CurrentVersion | undefined,
): Promise<CurrentVersion | undefined> {
  const [row] = await sql<{ id: number; version: string }[]>`
    select v.id, v.version from current_versions c join versions v on v.id = c.version_id where c.env = ${env}`;
  if (!row) return undefined;
  // Tasks of a version never change: only a new version is read.
  if (row.id === last?.id) return last;
  const tasks = await sql<{ id: string; manifest: TaskManifest }[]>`
    select id, manifest from tasks where version_id = ${row.id}`;
  return { id: row.id, version: row.version, tasks: new Map(tasks.map((task) => [task.id, task.manifest])) };
}
