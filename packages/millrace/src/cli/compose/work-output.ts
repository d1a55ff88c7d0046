// Does not import the whole server, which takes 200 ms to load.
import { createLog } from '@millrace/server/log';
import type { RunnerEvents } from '../../runner/options.ts';
import { logLinesOn, screenOn } from '../screen.ts';
import { foldJsonLines, foldRepeats } from './fold-repeats.ts';
import { runnerLog } from './runner-log.ts';
import { runnerScreen } from './runner-screen.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The output of `millrace work`. */
export interface WorkOutput {
  readonly events: RunnerEvents;
  readonly started: (runner: string, version: string | null) => void;
  readonly stopping: (graceMs: number) => void;
  /** Ends the output. */
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
    started: (runner, version) => log.info('runner.started', { runner, version }),
    stopping: (graceMs) => log.info('runner.stopping', { graceMs }),
    end: () => {
      folded.end();
      log.info('runner.stopped');
    },
  };
}

function linesForPeople(level: LogLevel): WorkOutput {
  const screen = screenOn(process.stderr);
  const { paint } = screen;
  const folded = foldRepeats<{ write: (text: string) => void; what: string }>(({ write, what }, repeated) => {
    const time = paint.dim(new Date().toTimeString().slice(0, 8));
    write(`${time} ${what}${repeated === 0 ? '' : paint.dim(` (${repeated} more times)`)}`);
  });
  const line = (what = ''): void => folded.add({ write: screen.line, what }, what);
  const text = (what: string): void => folded.add({ write: screen.text, what }, what);
  const events = runnerScreen({ ...screen, line, text }, { quiet: false });
  const tellInfo = level === 'debug' || level === 'info';
  const tellWarnings = tellInfo || level === 'warn';
  return {
    events: {
      onProblem: events.onProblem,
      onStillServed: events.onStillServed,
      ...(tellWarnings && {
        onGivenBack: events.onGivenBack,
        onUnconfirmed: events.onUnconfirmed,
        onDamaged: events.onDamaged,
        onUnable: events.onUnable,
        onStopAsked: events.onStopAsked,
        onState: events.onState,
        onAttemptEnd: (end) => {
          if (tellInfo || (end.outcome.kind !== 'completed' && end.outcome.kind !== 'canceled'))
            events.onAttemptEnd?.(end);
        },
      }),
      ...(tellInfo && {
        onVersion: events.onVersion,
        onLoaded: events.onLoaded,
        onOutput: events.onOutput,
      }),
    },
    started: (runner, version) =>
      tellInfo &&
      line(
        `${paint.green('runner')}  ${runner} serves${version === null ? ' deployed versions: there is no project in this folder' : ''}`,
      ),
    stopping: (graceMs) =>
      line(
        `Stopping when the runs under way are done, in ${graceMs / 1_000} s at the latest. Ctrl-C again stops at once.`,
      ),
    end: folded.end,
  };
}
