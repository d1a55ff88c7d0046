import type { History } from '../history/types.ts';
import { availabilityOf, type Availability, type Probe } from './availability.ts';
import { checkChannels } from './channels.ts';
import { checkLimits } from './limits.ts';
import { checkMessages } from './messages.ts';
import { checkRuns, executedAgain } from './runs.ts';
import { checkSteps } from './steps.ts';
import { checkTicks } from './ticks.ts';
import { checkTokens } from './tokens.ts';
import type { Violation } from './violation.ts';

export interface Checked extends Availability {
  readonly violations: readonly Violation[];
  readonly acknowledgedRuns: number;
  readonly lost: number;
  readonly doubled: number;
  /** Attempts that were taken from runners that the fault did not affect. */
  readonly falseRescues: number;
  readonly executedAgain: number;
}

export interface Fault {
  /** The name of the runner with a process id. */
  readonly runnerOf: (pid: number) => string | undefined;
  /** Whether the fault killed, disconnected or stopped the runner. */
  readonly isAffected: (runner: string) => boolean;
  /** Whether runs of the task may fail, or wait longer than the suite does. */
  readonly isExcused?: (task: string) => boolean;
}

export function check(
  history: History,
  probes: readonly Probe[],
  { runnerOf, isAffected, isExcused }: Fault,
): Checked {
  const violations = [
    ...checkRuns(history, isExcused),
    ...checkSteps(history),
    ...checkTokens(history),
    ...checkChannels(history),
    ...checkMessages(history),
    ...checkTicks(history),
    ...checkLimits(history, isAffected),
  ];
  const count = (promise: Violation['promise']): number =>
    violations.filter((each) => each.promise === promise).length;
  return {
    violations,
    acknowledgedRuns: history.operations.reduce((sum, operation) => sum + runsOf(operation), 0),
    lost: count('lost'),
    doubled: count('doubled'),
    falseRescues: history.stored.lost.filter(({ pid }) => !isAffected(runnerOf(pid) ?? '')).length,
    executedAgain: executedAgain(history.effects),
    ...availabilityOf(history.operations, probes),
  };
}

function runsOf(operation: History['operations'][number]): number {
  if (operation.error !== undefined) return 0;
  if (operation.call === 'batch') return operation.keys.length;
  return operation.call === 'trigger' ? 1 : 0;
}
