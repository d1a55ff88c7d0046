import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that ends runs that waited longer than their `ttl`. While none is due, a tick reads two index entries. */
export const expirer = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>): Job => ({
  name: 'expirer',
  everyMs: 1_000,
  async tick() {
    // Rounded up: the database's times are finer than those of this process, by which due rows are claimed.
    const [next] = await sql<{ due: number | null }[]>`
      select ceil(extract(epoch from least(
        (select q.expires_at from queued q where q.expires_at is not null order by q.expires_at limit 1),
        (select p.expires_at from pending_version p where p.expires_at is not null order by p.expires_at limit 1)
      )) * 1000)::float8 as due`;
    const due = next?.due ?? null;
    if (due === null) return false;
    if (due > clock.now()) return new Date(due);
    const [row] = await sql<{ count: number }[]>`
      select expire_due(${new Date(clock.now())}, ${maxAtOnce}) as count`;
    // If nothing can be claimed, another process is ending the due runs, and finishes before the next tick.
    return (row?.count ?? 0) > 0;
  },
});
