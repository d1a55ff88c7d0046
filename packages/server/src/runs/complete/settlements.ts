import type { Settlement } from '@millrace/contract/runner';
import type { ConnectedRunner } from '../../runners/runners.ts';
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { TenantTurns } from '../dispatch/tenant-turns.ts';
import { fitOutcome } from './fit-outcome.ts';
import { completeWithRetry, type RetryDependencies } from './with-retry.ts';

/**
 * Starts another run for session messages that arrived during a run and that it had not consumed when it ended. `consumed` has the last message
 * that the run consumed, by session. Never rejects.
 */
export type ServeUnread = (
  env: number,
  run: string,
  consumed: NonNullable<Settlement['consumed']>,
) => Promise<void>;

export interface SettlementDependencies extends RetryDependencies {
  readonly turns: Pick<TenantTurns, 'run'>;
  readonly dispatch: Pick<Dispatch, 'slotsFreed'>;
  readonly serveUnread: ServeUnread;
}

/** Completes the attempts that a runner reports as ended, frees their slots, and confirms to the runner that it may discard them. */
export async function completeSettlements(
  dependencies: SettlementDependencies,
  runner: ConnectedRunner,
  settlements: readonly Settlement[],
): Promise<void> {
  const { turns } = dependencies;
  const fences: number[] = [];
  const stale: number[] = [];
  const released: string[] = [];

  const completeOne = async (settlement: Settlement): Promise<void> => {
    const { fence, run, outcome, revision } = settlement;
    const consumed = fitConsumed(settlement.consumed);
    const leased = runner.leased.get(fence);
    const fitting = leased && fitOutcome(outcome);
    const fitted = fitting instanceof Promise ? await fitting : fitting;
    const ended = leased &&
      fitted && {
        fence,
        outcome: fitted,
        ...(revision !== undefined && { revision }),
        ...leased,
      };
    const completion = ended && (await completeWithRetry(dependencies, ended));
    runner.release(fence);
    // Also done for attempts that were completed before, because the process that completed them may have stopped before this step.
    if (consumed) await dependencies.serveUnread(runner.env, run, consumed);
    (completion && !completion.stale ? fences : stale).push(fence);
    if (completion?.kind === 'returned') released.push(run);
  };

  const completions: Promise<void>[] = [];
  for (const settlement of settlements) {
    // A runner may send many at once, so they are processed in parts, alternating with other environments.
    const begun = turns.run(runner.env, () => ({ completed: completeOne(settlement) }));
    completions.push((begun instanceof Promise ? await begun : begun).completed);
  }
  const failed = (await Promise.allSettled(completions)).find(({ status }) => status === 'rejected');
  // The others are confirmed; otherwise their runner would keep reporting them.
  runner.send({ type: 'settled', fences, stale });
  if (released.length > 0) {
    dependencies.engine.log.info('runs.released', { runner: runner.id, env: runner.env, runs: released });
  }
  dependencies.dispatch.slotsFreed(runner.env);
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

/** The numbers of consumed messages from a runner's message. */
function fitConsumed(sent: unknown): Settlement['consumed'] {
  if (typeof sent !== 'object' || sent === null) return undefined;
  const entries = Object.entries(sent).filter(([, number]) => Number.isSafeInteger(number));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
