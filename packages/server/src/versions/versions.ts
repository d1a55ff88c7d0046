import type { TaskManifest } from '@millrace/contract/runner';
import type { Sql } from '../db/connect.ts';

/** The current version of an environment, with its tasks. */
export interface CurrentVersion {
  readonly id: number;
  readonly version: string;
  readonly tasks: ReadonlyMap<string, TaskManifest>;
}

export interface Versions {
  /**
   * The current version of an environment, cached for about a second, and refreshed at once in the process that registers one. Acting on an
   * old one is corrected later: a runner that lacks the task gives the run back.
   */
  current(env: number): CurrentVersion | undefined | Promise<CurrentVersion | undefined>;
  /** Removes an environment from the cache: a version was registered or promoted. */
  forget(env: number): void;
  /** The name of a version, such as `20261121.3`. */
  name(id: number): string | Promise<string>;
  /** The ids of versions, by name. Those that the environment does not have are left out. */
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
    const current = loading.get(env);
    if (current) return current;
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
  // The tasks of a version never change: read those of a new version only.
  if (row.id === last?.id) return last;
  const tasks = await sql<{ id: string; manifest: TaskManifest }[]>`
    select id, manifest from tasks where version_id = ${row.id}`;
  return { id: row.id, version: row.version, tasks: new Map(tasks.map((task) => [task.id, task.manifest])) };
}
