import type { Queryable } from '../../db/connect.ts';
import { add, type Counts } from './counts.ts';

/**
 * Counts of groups, by their numbers, from those of their fingerprints. A group has the number of the fingerprint that it is named after,
 * and most have no other: what others have is moved there.
 */
export async function byGroup(sql: Queryable, env: number, counts: Counts): Promise<Counts> {
  const moved = await sql<{ id: number; number: number }[]>`
    select f.id, g.number from error_fingerprints f join error_groups g on g.env = f.env and g.id = f.group_id
     where f.env = ${env} and f.group_id <> f.own_group`;
  if (moved.length === 0) return counts;
  const groups = new Map(moved.map(({ id, number }) => [id, number]));
  const kept = { fingerprints: [] as number[], counts: [] as number[] };
  const more = new Map<number, number>();
  counts.fingerprints.forEach((id, place) => {
    const count = counts.counts[place] as number;
    const number = groups.get(id);
    if (number !== undefined) {
      more.set(number, (more.get(number) ?? 0) + count);
      return;
    }
    kept.fingerprints.push(id);
    kept.counts.push(count);
  });
  const ordered = [...more].toSorted(([a], [b]) => a - b);
  return add(
    { fingerprints: Int32Array.from(kept.fingerprints), counts: Float64Array.from(kept.counts) },
    {
      fingerprints: Int32Array.from(ordered, ([number]) => number),
      counts: Float64Array.from(ordered, ([, count]) => count),
    },
  );
}
