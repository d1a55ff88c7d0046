import type { RunReasonReply } from '@millrace/contract';
import { currentClient } from '../client/current-client.ts';
import { runId, type RunReference } from './run.ts';

/** The reason why a run is not running. `message` is human-readable; `reason` is for programs. */
export type Reason = Omit<RunReasonReply, 'until'> & { readonly until?: Date | undefined };

/**
 * The reason why a run is not running: the first cause that must be resolved. `not_waiting` for a run that is executing or has ended.
 * Throws a NotFoundError for an unknown run.
 *
 * @example
 * const { reason, message } = await runs.reason('run_…');
 * if (reason === 'queue_paused') console.log(message);
 */
export async function reason(run: RunReference): Promise<Reason> {
  const { until, ...rest } = await currentClient().call('retrieveRunReason', {
    params: { runId: runId(run) },
  });
  return { ...rest, ...(until !== undefined && { until: new Date(until) }) };
}
