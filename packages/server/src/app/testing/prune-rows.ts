import { defaultRetention } from '../retention.ts';
import { rowPruners } from '../row-pruners.ts';

/** Deletes what is old in each table that has no pruner of its own, as the background jobs do. */
export async function pruneRows(
  dependencies: Omit<Parameters<typeof rowPruners>[0], 'retention'>,
): Promise<void> {
  for (const job of rowPruners({ ...dependencies, retention: defaultRetention })) await job.tick();
}
