import { defaultRetention } from '../retention.ts';
import { rowPruners } from '../row-pruners.ts';

/** Deletes expired rows in each table without its own pruner, like the background jobs. */
export async function pruneRows(
  dependencies: Omit<Parameters<typeof rowPruners>[0], 'retention'>,
): Promise<void> {
  for (const job of rowPruners({ ...dependencies, retention: defaultRetention })) await job.tick();
}
