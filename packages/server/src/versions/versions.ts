import type { TaskManifest } from '@millrace/contract/runner';
import type { Sql } from '../db/connect.ts';
import { cachedReads } from './cache.ts';

/** The current version of an environment, with its tasks. */
export interface CurrentVersion {
  readonly id: number;
  readonly version: string;
  readonly tasks: ReadonlyMap<string, TaskManifest>;
  /** A version on which a share of the new runs starts instead. */
  readonly canary?: { readonly id: number; readonly percent: number } | undefined;
}

/** A version that a runner may fetch, and its requirements. */
export interface FetchableVersion {
  readonly id: number;
  readonly version: string;
  /** The minimum major version of Node.js. */
  readonly nodeMajor: number;
  /** The platforms of its layers. Without any, it runs on all. */
  readonly platforms: readonly string[];
  /** Required runner labels. */
  readonly requires: readonly string[];
}

/** A task as a version declares it. */
export interface DeclaredTask {
  /** The id of the version. */
  readonly id: number;
  readonly state: string;
  /** Null if the version lacks the task. */
  readonly manifest: TaskManifest | null;
}

export interface Versions {
  /**
   * The current version of an environment, cached for about a second, and refreshed immediately in the process that registers one. Acting
   * on an outdated version is corrected later: a runner that lacks the task returns the run.
   */
  current(env: number): CurrentVersion | undefined | Promise<CurrentVersion | undefined>;
  /** The uploaded versions of an environment that are ready and not archived, newest first; cached like the current one. */
  fetchable(env: number): readonly FetchableVersion[] | Promise<readonly FetchableVersion[]>;
  /** Requests, for one minute, that runners load this version, because a promotion was attempted but no runner has loaded it. */
  want(env: number, id: number): void;
  /** The ids of the versions requested this way. */
  requested(env: number): readonly number[];
  /** Removes an environment from the cache, because a version was registered, uploaded, promoted or archived. */
  forget(env: number): void;
  /** The name of a version, such as `20261121.3`. */
  name(id: number): string | Promise<string>;
  /** Version ids by name. Versions that the environment does not have are omitted. */
  ids(env: number, versions: readonly string[]): Promise<Map<string, number>>;
  /**
   * A task of any version; undefined if the environment has no such version. Cached for a tenth of a second, so that the items of a batch share
   * one read, while archiving a version soon takes effect.
   */
  declared(env: number, version: string, task: string): Promise<DeclaredTask | undefined>;
}

/** How long runners keep a version ready after an attempted promotion, in milliseconds. */
const requestMs = 60_000;
/** Milliseconds for which a task of a version is cached. */
const declaredMs = 100;

export function cachedVersions(sql: Sql): Versions {
  const current = cachedReads<CurrentVersion | undefined>((env, last) => readCurrent(sql, env, last));
  const fetchable = cachedReads<readonly FetchableVersion[]>((env) => readFetchable(sql, env));
  const names = new Map<number, string>();
  const declared = new Map<string, Promise<DeclaredTask | undefined>>();
  /** By environment and version id, the end of each request: monotonic milliseconds. */
  const requests = new Map<number, Map<number, number>>();
  return {
    want(env, id) {
      const ids = requests.get(env) ?? new Map<number, number>();
      requests.set(env, ids.set(id, performance.now() + requestMs));
    },
    requested(env) {
      const ids = requests.get(env);
      if (!ids) return [];
      for (const [id, until] of ids) if (until < performance.now()) ids.delete(id);
      if (ids.size === 0) requests.delete(env);
      return [...ids.keys()];
    },
    current: (env) => current.get(env),
    fetchable: (env) => fetchable.get(env),
    forget(env) {
      current.forget(env);
      fetchable.forget(env);
      declared.clear();
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
    declared(env, version, task) {
      const key = JSON.stringify([env, version, task]);
      const known = declared.get(key);
      if (known) return known;
      const read = readDeclared(sql, env, version, task);
      declared.set(key, read);
      read.catch(() => declared.delete(key));
      setTimeout(() => declared.delete(key), declaredMs).unref();
      return read;
    },
  };
}

async function readCurrent(
  sql: Sql,
  env: number,
  last: CurrentVersion | undefined,
): Promise<CurrentVersion | undefined> {
  const [row] = await sql<{ id: number; version: string; canary: number | null; percent: number | null }[]>`
    select v.id, v.version, c.canary_id as canary, c.canary_percent as percent
      from current_versions c join versions v on v.id = c.version_id where c.env = ${env}`;
  if (!row) return undefined;
  const { canary: canaryId, percent } = row;
  const canary = canaryId === null || percent === null ? undefined : { id: canaryId, percent };
  // The tasks of a version never change, so they are read only for a new version.
  if (row.id === last?.id)
    return canary?.id === last.canary?.id && canary?.percent === last.canary?.percent
      ? last
      : { ...last, canary };
  const tasks = await sql<{ id: string; manifest: TaskManifest }[]>`
    select id, manifest from tasks where version_id = ${row.id}`;
  return {
    id: row.id,
    version: row.version,
    tasks: new Map(tasks.map((task) => [task.id, task.manifest])),
    canary,
  };
}

async function readDeclared(
  sql: Sql,
  env: number,
  version: string,
  task: string,
): Promise<DeclaredTask | undefined> {
  const [row] = await sql<DeclaredTask[]>`
    select v.id, v.state, t.manifest
      from versions v left join tasks t on t.version_id = v.id and t.id = ${task}
     where v.env = ${env} and v.version = ${version}`;
  return row;
}

const readFetchable = (sql: Sql, env: number): Promise<FetchableVersion[]> =>
  sql<FetchableVersion[]>`
    select id, version, node_major as "nodeMajor", platforms, requires
      from versions where env = ${env} and is_uploaded and state = 'ready' order by sequence desc`;
