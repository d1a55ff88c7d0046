import type { Log } from '@millrace/server';
import type { AttemptEnd, RunnerEvents } from '@millrace/runner';
import { throttle } from './throttle.ts';

/** Logs the events of a runner. */
export function runnerLog(log: Log): RunnerEvents {
  return {
    onVersion: ({ version, isNew, isCurrent, tasks, took }) =>
      log.info('version.served', { version, isNew, isCurrent, tasks: tasks.map(({ id }) => id), ms: took }),
    onProblem: (problem) => log.error('project.problem', { ...problem }),
    onLoaded: (version, ms) => log.info('version.loaded', { version, ms }),
    onDamaged: (version) => log.warn('version.damaged', { version }),
    onUnable: (version, why) => log.error('version.unable', { version, why }),
    onStopRequested: () => log.warn('runner.stopRequested'),
    onAttemptEnd: throttle(
      (end) => logAttempt(log, end),
      (count) => log.info('attempts.unlisted', { count }),
    ),
    onOutput: (stream, text) => {
      for (const line of text.trimEnd().split('\n')) log.info('executor.output', { stream, line });
    },
    onReleased: ({ why, runs }) => log.warn('runs.released', { why, runs }),
    onUnconfirmed: (runs) => log.warn('runs.unconfirmed', { runs }),
    onState: (state, detail) => {
      if (state === 'connected') log.info('runner.connected');
      if (state === 'disconnected') log.warn('runner.disconnected', { detail });
    },
  };
}

function logAttempt(log: Log, { task, run, attempt, outcome, took }: AttemptEnd): void {
  const fields = { task, run, attempt, outcome: outcome.kind, ms: Math.round(took) };
  if (outcome.kind === 'completed' || outcome.kind === 'canceled') return log.info('attempt.ended', fields);
  if (outcome.kind === 'unknownTask') return log.warn('attempt.ended', fields);
  const { name, message } = outcome.error;
  log.warn('attempt.ended', {
    ...fields,
    ...(outcome.kind === 'failed' && { status: outcome.status }),
    error: `${name}: ${message.split('\n', 1)[0] ?? ''}`,
  });
}
