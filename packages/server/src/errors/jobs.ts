import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { Job } from '../jobs/job.ts';
import { endLapsedIgnores } from './life/lapse.ts';
import { compactTallies, deleteOldHours } from './counts/compact.ts';
import type { Ages } from './counts/range.ts';
import { tallyEverywhere } from './record/tally.ts';

export interface ErrorJobDependencies {
  readonly sql: Sql;
  readonly clock: Pick<Clock, 'now'>;
}

/** The background jobs of error groups. */
export function errorJobs({ sql, clock }: ErrorJobDependencies, ages: Ages): Job[] {
  const now = (): Date => new Date(clock.now());
  return [
    {
      // Readers treat an expired ignore as ended; this records the end.
      name: 'ignore ender',
      everyMs: 10_000,
      tick: () => endLapsedIgnores(sql, now()),
    },
    {
      // Reads of error groups count the arrivals; this counts them in the absence of reads.
      name: 'error tallier',
      everyMs: 500,
      tick: () => tallyEverywhere(sql),
    },
    {
      name: 'error pruner',
      everyMs: 60_000,
      async tick() {
        const compacted = await compactTallies(sql, now(), ages);
        return (await deleteOldHours(sql, now(), ages)) || compacted;
      },
    },
  ];
}
