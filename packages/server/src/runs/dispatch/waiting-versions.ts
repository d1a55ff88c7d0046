import type { Sql } from '../../db/connect.ts';

/** How long a result counts as fresh. */
const freshMs = 500;

interface Known {
  versions: ReadonlySet<number>;
  at: number;
  /** Set if a caller received an old result and should call again. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * The versions that have lanes, so that a claim names only those; of an environment's thousand versions, a few may have waiting runs. Reads
 * an environment at most once every half second, and calls `again` when callers that received an old result should repeat the call.
 */
export class WaitingVersions {
  readonly #sql: Sql;
  readonly #again: (env: number) => void;
  readonly #known = new Map<number, Known>();

  constructor(sql: Sql, again: (env: number) => void) {
    this.#sql = sql;
    this.#again = again;
  }

  /** The state as of `since` (monotonic milliseconds), or of up to half a second earlier. */
  async in(env: number, since: number): Promise<ReadonlySet<number>> {
    const known = this.#known.get(env);
    const age = known ? performance.now() - known.at : freshMs;
    if (known && known.at >= since) return known.versions;
    if (known && age < freshMs) {
      known.timer ??= setTimeout(() => {
        known.timer = undefined;
        this.#again(env);
      }, freshMs - age).unref();
      return known.versions;
    }
    const at = performance.now();
    const versions = await readWaiting(this.#sql, env);
    clearTimeout(this.#known.get(env)?.timer);
    this.#known.set(env, { versions, at, timer: undefined });
    return versions;
  }

  stop(): void {
    for (const { timer } of this.#known.values()) clearTimeout(timer);
    this.#known.clear();
  }
}

/** Environments, of those given, with runs that could start. Takes one step in the index of ready lanes for each. */
export async function readReady(sql: Sql, environments: readonly number[]): Promise<number[]> {
  const rows = await sql<{ env: number }[]>`
    select e.env from unnest(${[...environments]}::int[]) as e (env) cross join lateral (
      select from lanes l where l.env = e.env and not l.blocked order by (l.pinned_version + 0) limit 1) n`;
  return rows.map(({ env }) => env);
}

/** Takes one step in the index of ready lanes for each version, regardless of how many lanes it has. */
async function readWaiting(sql: Sql, env: number): Promise<ReadonlySet<number>> {
  const rows = await sql<{ version: number }[]>`
    with recursive found (version) as (
      (select l.pinned_version + 0 from lanes l
        where l.env = ${env} and not l.blocked order by (l.pinned_version + 0) limit 1)
      union all
      select n.version from found f cross join lateral (
        select l.pinned_version + 0 as version from lanes l
         where l.env = ${env} and not l.blocked and (l.pinned_version + 0) > f.version
         order by (l.pinned_version + 0) limit 1) n
    )
    select version from found where version > 0`;
  return new Set(rows.map(({ version }) => version));
}
