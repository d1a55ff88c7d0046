// Does not import the whole server, which takes 200 ms to load.
import { createLog, type Log } from '@millrace/server/log';
import type { PreviewsOptions, RunnerEvents } from '@millrace/runner';
import { logLinesOn, screenOn, timeOfDay } from '../screen.ts';
import { foldJsonLines, foldRepeats } from './fold-repeats.ts';
import { runnerLog } from './runner-log.ts';
import { runnerScreen } from './runner-screen.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The output of `millrace work`. */
export interface WorkOutput {
  readonly events: RunnerEvents;
  /** Events of branches, for a runner that serves all of them. */
  readonly previews: Pick<PreviewsOptions, 'branchEvents' | 'onServed' | 'onLeft'>;
  readonly started: (runner: string, version: string | null, servesAll: boolean) => void;
  readonly stopping: (graceMs: number) => void;
  /** Called when variables from other sources could not be read again. */
  readonly unread: (why: string) => void;
  /** Closes the output. */
  readonly end: () => void;
}

/** On stderr: lines for a person on a terminal, otherwise JSON lines as in `millrace start`. */
export const workOutput = (level: LogLevel): WorkOutput =>
  process.stderr.isTTY ? linesForPeople(level) : jsonLines(level);

function jsonLines(level: LogLevel): WorkOutput {
  const folded = foldJsonLines(logLinesOn(process.stderr));
  const log = createLog(folded, level);
  return {
    events: runnerLog(log),
    previews: {
      branchEvents: (branch) => runnerLog(withFields(log, { branch })),
      onServed: (branch, runner) => log.info('branch.served', { branch, runner }),
      onLeft: (branch, why) =>
        why === undefined ? log.info('branch.left', { branch }) : log.warn('branch.left', { branch, why }),
    },
    started: (runner, version) => log.info('runner.started', { runner, version }),
    stopping: (graceMs) => log.info('runner.stopping', { graceMs }),
    unread: (why) => log.warn('variables.unread', { why }),
    end: () => {
      folded.end();
      log.info('runner.stopped');
    },
  };
}

/** Every line also has these fields. */
const withFields = (log: Log, fields: Readonly<Record<string, unknown>>): Log => ({
  info: (event, more) => log.info(event, { ...fields, ...more }),
  warn: (event, more) => log.warn(event, { ...fields, ...more }),
  error: (event, more) => log.error(event, { ...fields, ...more }),
});

function linesForPeople(level: LogLevel): WorkOutput {
  const screen = screenOn(process.stderr);
  const { paint } = screen;
  const folded = foldRepeats<{ write: (text: string) => void; what: string }>(({ write, what }, repeated) => {
    write(`${paint.dim(timeOfDay())} ${what}${repeated === 0 ? '' : paint.dim(` (${repeated} more times)`)}`);
  });
  const line = (what = ''): void => folded.add({ write: screen.line, what }, what);
  const text = (what: string): void => folded.add({ write: screen.text, what }, what);
  const showsInfo = level === 'debug' || level === 'info';
  const showsWarnings = showsInfo || level === 'warn';
  const eventsOn = (target: typeof screen): RunnerEvents => {
    const events = runnerScreen(target, { quiet: false });
    return {
      onProblem: events.onProblem,
      onStillServed: events.onStillServed,
      ...(showsWarnings && {
        onReleased: events.onReleased,
        onUnconfirmed: events.onUnconfirmed,
        onDamaged: events.onDamaged,
        onUnable: events.onUnable,
        onStopRequested: events.onStopRequested,
        onState: events.onState,
        onAttemptEnd: (end) => {
          if (showsInfo || (end.outcome.kind !== 'completed' && end.outcome.kind !== 'canceled'))
            events.onAttemptEnd?.(end);
        },
      }),
      ...(showsInfo && {
        onVersion: events.onVersion,
        onLoaded: events.onLoaded,
        onOutput: events.onOutput,
      }),
    };
  };
  const ofBranch = (branch: string, write: (what: string) => void): ((what?: string) => void) => {
    return (what = '') => write(`${paint.dim(branch)} ${what}`);
  };
  return {
    events: eventsOn({ ...screen, line, text }),
    previews: {
      branchEvents: (branch) =>
        eventsOn({ ...screen, line: ofBranch(branch, line), text: ofBranch(branch, text) }),
      onServed: (branch) => showsInfo && line(`${paint.green('branch')}  ${branch} is served`),
      onLeft: (branch, why) => {
        if (why !== undefined) {
          if (showsWarnings) line(`${paint.yellow('branch')}  ${branch} is not served: ${why}`);
        } else if (showsInfo) line(`${paint.cyan('branch')}  ${branch} no longer exists`);
      },
    },
    started: (runner, version, servesAll) => {
      const what = servesAll
        ? ' the branches of preview'
        : version === null
          ? ' deployed versions (no project in this folder)'
          : '';
      if (showsInfo) line(`${paint.green('runner')}  ${runner} serves${what}`);
    },
    stopping: (graceMs) =>
      line(
        `Stopping when the active runs have ended, after at most ${graceMs / 1_000} s. Press Ctrl-C again to stop immediately.`,
      ),
    unread: (why) => showsWarnings && line(`${paint.yellow('variables')}  ${why}`),
    end: folded.end,
  };
}
