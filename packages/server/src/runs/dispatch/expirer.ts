import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';

const maxAtOnce = 1_000;

/** The job that ends runs that waited longer than their `ttl`. */
export const expirer = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>): Job => ({
  name: 'expirer',
  everyMs: 500,
  async tick() {
    const [row] = await sql<{ count: number }[]>`
      select expire_due(${new Date(clock.now())}, ${maxAtOnce}) as count`;
    return (row?.count ?? 0) >= maxAtOnce;
  },
});
