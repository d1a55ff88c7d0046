import { largerMachine } from '@millrace/contract/plain';
import type { Outcome, SerializedError } from '@millrace/contract/runner';
import type { ServedTask } from './served-build.ts';
import type { Death } from '../executor/spawn.ts';
import { machineOf } from './attempt.ts';
import type { Attempt } from './executor.ts';
import type { Executor } from './executor.ts';

/** An attempt fails after this many processes died before starting it. */
export const startsAtMost = 3;
const outOfMemory = /heap out of memory|Reached heap limit|JavaScript heap|Out of memory:/i;
const wordsShown = 8;
/** Native addresses in Node.js, which are irrelevant to the task. */
const noise = /^\s*\d+: 0x|Native stack trace|^\[\d+:0x/;

/**
 * The outcome of an attempt whose process died, if it caused the crash or received a stop signal; otherwise undefined. An attempt that ran out
 * of memory is retried on the machine that its task specifies for this case.
 */
export function afterDeath(
  attempt: Attempt,
  task: ServedTask | undefined,
  executor: Executor,
  death: Death,
): Outcome | undefined {
  if (attempt.canceledAt !== null) return { kind: 'canceled' };
  const { ready, purpose, culpritKnown } = executor;
  // In a shared process, the cause may be another task file or another run.
  const isToBlame = purpose !== 'shared' && (ready ? !culpritKnown : attempt.failedStarts >= startsAtMost);
  if (!isToBlame) return undefined;
  const error = crashError(executor, death);
  const larger =
    task && ready && isOutOfMemory(executor, death)
      ? largerMachine(task.retry, machineOf(attempt, task))
      : undefined;
  return larger ? { kind: 'retry', ...larger, error } : crashed(error);
}

/** Operating systems kill processes with SIGKILL when memory runs out. */
const isOutOfMemory = ({ killedFor }: Executor, { signal, lastLines }: Death): boolean =>
  killedFor === null && (signal === 'SIGKILL' || lastLines.some((line) => outOfMemory.test(line)));

/** The error of an attempt whose process died while running only that attempt. */
function crashError({ killedFor, ready, memory }: Executor, death: Death): SerializedError {
  const { name, message } = cause(death, killedFor, memory);
  const description = ready ? message : `${message} before it could start the run`;
  // The message is constant, so that crashes form one error group; details go into the stack.
  const words = death.lastLines
    .filter((line) => !noise.test(line))
    .slice(-wordsShown)
    .map((line) => line.slice(0, 300));
  return {
    type: 'INTERNAL_ERROR',
    name,
    message: description,
    stackTrace: [`${name}: ${description}`, ...words].join('\n'),
  };
}

function cause(
  { code, signal, lastLines }: Death,
  killedFor: string | null,
  memory: number | undefined,
): { name: string; message: string } {
  if (killedFor !== null) return { name: 'ProcessKilled', message: killedFor };
  if (lastLines.some((line) => outOfMemory.test(line))) {
    const limit = memory === undefined ? '' : ` (its limit was ${memory} MiB)`;
    return { name: 'OutOfMemory', message: `The process of the run ran out of memory${limit}` };
  }
  if (signal === 'SIGKILL') {
    const hint = 'systems do so when memory runs out';
    return {
      name: 'ProcessKilled',
      message: `The process of the run was killed by SIGKILL from outside; ${hint}`,
    };
  }
  if (signal !== null)
    return { name: 'ProcessKilled', message: `The process of the run was ended by ${signal}` };
  return { name: 'ProcessExit', message: `The process of the run exited with code ${code ?? 'unknown'}` };
}

export const crashed = (error: SerializedError): Outcome => ({ kind: 'failed', status: 'CRASHED', error });

export function timedOut(seconds: number): Outcome {
  const name = 'MaxDurationExceeded';
  const message = `The attempt took longer than its maxDuration of ${seconds} s and did not stop when its signal was aborted`;
  return {
    kind: 'failed',
    status: 'TIMED_OUT',
    error: { type: 'INTERNAL_ERROR', name, message, stackTrace: '' },
  };
}
