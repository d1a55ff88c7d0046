import { deleteByEnvironment } from '../../db/delete-by-environment.ts';
import type { Job } from '../../jobs/job.ts';
import type { Engine } from '../engine/engine.ts';
import { dayMs, modelRetentionDays } from './usage.ts';

const maxAtOnce = 5_000;

/** The job that deletes expired roll-ups. The calls of a run are deleted with it. */
export const modelPruner = ({ sql, clock }: Pick<Engine, 'sql' | 'clock'>): Job => ({
  name: 'model pruner',
  everyMs: 3_600_000,
  tick: () =>
    deleteByEnvironment(sql, {
      table: sql`model_days`,
      condition: sql`x.at < ${new Date(clock.now() - (modelRetentionDays + 1) * dayMs)}`,
      orderBy: sql`x.at`,
      limit: maxAtOnce,
    }),
});
