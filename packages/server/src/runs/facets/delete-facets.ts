import type { Transaction } from '../../db/connect.ts';
import { idAt } from '../list/position.ts';

/** Triggers that take long may still create runs in younger spans. */
const recentMs = 60_000;

/**
 * Deletes the entries of lists that only these runs had: tags and values at paths. Where a run of the span has not ended, it may get such a
 * value now, so the entries remain until the span has no more runs.
 */
export async function deleteFacets(
  tx: Transaction,
  env: number,
  ids: readonly string[],
  at: Date,
): Promise<void> {
  const recent = idAt(at.getTime() - recentMs).slice(0, 10);
  const own = await tx<{ span: string; facet: string }[]>`
    select distinct left(r.id, 10) as span, f.facet
      from runs r
      cross join lateral (select facet_of('tag', t) as facet from unnest(r.tags) as t union all select unnest(r.path_facets)) f
     where r.env = ${env} and r.id = any(${ids}::text[]) and left(r.id, 10) < ${recent}`;
  if (own.length === 0) return;
  const [spans, facets] = [own.map(({ span }) => span), own.map(({ facet }) => facet)];
  await tx`
    with spans as materialized (
      select distinct span from unnest(${spans}::text[]) as span
    ), others as materialized (
      select s.span, o.status, o.tags, o.path_facets from spans s
        cross join lateral (
          select r.id, r.status, r.tags, r.path_facets from runs r
           where r.env = ${env} and r.id >= s.span and r.id < s.span || '~' offset 0) o
       where o.id <> all(${ids}::text[])
    ), used as materialized (
      select o.span, facet_of('tag', t) as facet from others o cross join lateral unnest(o.tags) as t
      union select o.span, f from others o cross join lateral unnest(o.path_facets) as f
    )
    delete from run_facets x
     using (select i.span, i.facet from unnest(${spans}::text[], ${facets}::text[]) as i (span, facet)
             where i.span not in (select o.span from others o where o.status is null)
            except select u.span, u.facet from used u) g
     where x.env = ${env} and x.facet = g.facet and x.span = g.span`;
}
