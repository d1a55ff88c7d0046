import type { Clock } from '../../db/clock.ts';
import type { Sql, Transaction } from '../../db/connect.ts';
import type { Job } from '../../jobs/job.ts';
import { idAt } from '../list/position.ts';
import type { DeclaredPaths } from './declared.ts';
import { pathFacets, type Carried } from '../facets/path-facets.ts';
import { recordFacets } from '../facets/record.ts';

export interface PathKeeperDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
  readonly paths: DeclaredPaths;
}

export const refreshMs = 2_000;
/** After this time, every process indexes the runs that it creates. Earlier runs are backfilled. */
const propagationMs = 20_000;
const maxRuns = 200;

interface PendingPath {
  readonly id: number;
  readonly env: number;
  readonly path: string;
  readonly from: string;
}

/** The job that reads the declared paths, and indexes existing runs, newest first. */
export const pathKeeper = ({ sql, clock, paths }: PathKeeperDependencies): Job => ({
  name: 'path keeper',
  everyMs: refreshMs,
  async tick() {
    await paths.refresh();
    return sql.begin((tx) => backfillSome(tx, clock.now()));
  },
});

async function backfillSome(tx: Transaction, now: number): Promise<boolean> {
  const [pending] = await tx<PendingPath[]>`
    select id, env, path, coalesce(backfilled_from, ${`${idAt(now)}~`}) as "from" from run_paths
     where backfilled_at is null and created_at < ${new Date(now - propagationMs)}
     order by created_at limit 1 for no key update skip locked`;
  if (!pending) return false;
  const { id, env, from } = pending;
  const found = await tx<{ id: string }[]>`
    select id from runs where env = ${env} and id < ${from} order by id desc limit ${maxRuns}`;
  // Locked in id order, as everywhere, and read after that.
  const rows = await tx<(Carried & { id: string })[]>`
    select id, metadata, payload, payload_type as "payloadType" from runs
     where env = ${env} and id = any(${found.map((run) => run.id)}::text[]) order by id for no key update`;
  const facets = rows.flatMap((row) => pathFacets([pending], row).map((facet) => ({ id: row.id, facet })));
  if (facets.length > 0) {
    const [ids, names] = [facets.map((each) => each.id), facets.map(({ facet }) => facet)];
    await tx`
      update runs r set path_facets = array_append(r.path_facets, i.facet)
        from unnest(${ids}::text[], ${names}::text[]) as i (id, facet)
       where r.env = ${env} and r.id = i.id and not coalesce(i.facet = any (r.path_facets), false)`;
    await recordFacets(tx, env, facets);
  }
  const isOver = found.length < maxRuns;
  await tx`
    update run_paths set backfilled_from = ${found.at(-1)?.id ?? from}, backfilled_at = ${isOver ? new Date(now) : null}
     where id = ${id}`;
  return true;
}
