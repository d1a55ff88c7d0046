import type { Engine } from '../engine/engine.ts';
import { idAt } from '../list/position.ts';
import { deleteRuns } from './delete-runs.ts';
import { isExpired, pruneShorter, type RunToExpire } from './prune-shorter.ts';
import { readRules, type RetentionRules } from './rules.ts';

const maxRuns = 1_000;
const maxFacets = 500;
const maxRows = 5_000;
const hourMs = 3_600_000;

/**
 * The job that deletes runs that ended longer ago than their retention, with their attempts, logs and facets. Unfinished runs are never
 * deleted, regardless of age. Each batch is a separate short transaction and proceeds in creation order, so it does not delay other work.
 * The counts of failures stay with their error groups.
 */
export function runPruner({ sql, clock }: Pick<Engine, 'sql' | 'clock'>, retentionMs: number) {
  /** Where the next batch of an environment begins. */
  const cursors = new Map<number, string>();
  const facetCursors = new Map<number, string>();

  /** The runs with the longest retention: nothing before the cursor remains, except runs that have not ended. */
  const pruneOldest = (env: number, rules: RetentionRules, now: number): Promise<boolean> =>
    sql.begin(async (tx) => {
      const longest = rules.distinct.at(-1)?.ms ?? retentionMs;
      const looked = await tx<RunToExpire[]>`
        select r.id, r.task, r.status, r.finished_at as "finishedAt" from runs r
         where r.env = ${env} and r.id > ${cursors.get(env) ?? ''} and r.id < ${idAt(now - longest)}
         order by r.id limit ${maxRuns}`;
      const more = looked.length >= maxRuns;
      cursors.set(env, more ? (looked.at(-1)?.id ?? '') : '');
      const ids = looked.filter((run) => isExpired(run, rules, now)).map((run) => run.id);
      if (ids.length > 0) await deleteRuns(tx, env, ids);
      return more;
    });

  /** Deletes the spans of some facets before the oldest run, which are empty. */
  const pruneFacets = async (env: number, now: number): Promise<boolean> => {
    const [row] = await sql<{ facets: string[] | null; oldest: string | null }[]>`
      with recursive f as (
        (select x.facet from run_facets x where x.env = ${env} and x.facet > ${facetCursors.get(env) ?? ''}
          order by x.facet limit 1)
        union all
        select (select x.facet from run_facets x where x.env = ${env} and x.facet > f.facet order by x.facet limit 1)
          from f where f.facet is not null
      )
      select (select array_agg(facet) from (select facet from f where facet is not null limit ${maxFacets}) f) as facets,
             (select left(r.id, 10) from runs r where r.env = ${env} order by r.id limit 1) as oldest`;
    if (!row?.facets) {
      facetCursors.delete(env);
      return false;
    }
    const { facets, oldest } = row;
    // Never the spans that runs may currently be written to.
    const recent = idAt(now - hourMs).slice(0, 10);
    const gone = await sql`
      delete from run_facets where ctid = any(array(
        select x.ctid from run_facets x
         where x.env = ${env} and x.facet = any(${facets}::text[])
           and x.span < ${oldest !== null && oldest < recent ? oldest : recent} limit ${maxRows}))`;
    if (gone.count < maxRows) facetCursors.set(env, facets.at(-1) ?? '');
    return gone.count > 0;
  };

  return {
    name: 'run pruner',
    everyMs: 60_000,
    /** One batch in each environment. */
    async tick(): Promise<boolean> {
      const now = clock.now();
      let more = false;
      for (const { env, rules } of await readRules(sql, retentionMs)) {
        more = (await pruneOldest(env, rules, now)) || more;
        more = (await pruneShorter(sql, env, rules, now)) || more;
        more = (await pruneFacets(env, now)) || more;
      }
      return more;
    },
  };
}
