import { readableDuration } from '@millrace/contract/plain';
import { describeProblem } from '@millrace/diagnostics';
import type { FolderEvents } from '../../serve-folder/start.ts';
import { attemptLines } from './attempt-lines.ts';
import { runLines } from './run-lines.ts';
import type { Screen } from '../screen.ts';

interface RunnerScreenOptions {
  readonly quiet: boolean;
  /** Print output of tasks unescaped. */
  readonly raw?: boolean;
  /** Print lines of runs as lines of JSON. */
  readonly json?: boolean;
}

/** Prints the events of a runner, one line each. */
export function runnerScreen(
  screen: Screen,
  { quiet, raw: asItIs = false, json = false }: RunnerScreenOptions,
): FolderEvents {
  const { line, text, raw, paint } = screen;
  let wasConnected = false;
  return {
    onSdkLent: () =>
      line(
        `${paint.cyan('sdk')}     the SDK of this command, because the project has none: \`npm install\` adds its types for your editor`,
      ),
    onVersion: ({ version, isNew, isCurrent, tasks, took }) => {
      const names = tasks.map(({ id }) => id).toSorted();
      const visible = names.length > 8 ? [...names.slice(0, 8), `and ${names.length - 8} more`] : names;
      const what =
        names.length === 0
          ? paint.yellow('no tasks: export one from a file in the tasks folder')
          : visible.join(', ');
      const how = isNew ? `registered in ${readableDuration(took)}` : 'unchanged';
      line(`${paint.cyan('version')} ${version} ${paint.dim(how)}  ${what}`);
      if (!isCurrent)
        line(
          `${paint.yellow('version')} ${version} is not current: new runs do not start on it. Deploy with \`millrace deploy\`, or promote it with \`millrace versions promote ${version}\`.`,
        );
    },
    onLoaded: (version, took) =>
      line(`${paint.cyan('version')} ${version} loaded in ${readableDuration(took)}`),
    onDamaged: (version) =>
      line(
        `${paint.yellow('version')} ${version}: its files in the cache were lost or changed; fetching them again`,
      ),
    onUnable: (version, why) => text(`${paint.red('version')} ${version} cannot be served here: ${why}`),
    onStopRequested: () => line(`${paint.yellow('runner')}  received a stop signal from the server`),
    onProblem: (problem) => text(`${paint.red('problem')} ${describeProblem(problem)}`),
    onStillServed: (version) => line(`${paint.cyan('version')} ${version} remains in service`),
    onStopping: ({ runs, waitMs }) => {
      if (runs.length === 0) return;
      const what = runs.length === 1 ? '1 run' : `${runs.length} runs`;
      line(
        `Waiting for ${what} to finish, for ${readableDuration(waitMs)} at most. Press Ctrl-C again to stop immediately.`,
      );
    },
    onReleased: ({ why, runs }) => {
      const what = why === 'notStarted' ? 'had not started' : 'did not end in time';
      line(`${paint.yellow('runner')}  returns runs that ${what}: ${runs.join(', ')}`);
    },
    onUnconfirmed: (runs) =>
      line(
        `${paint.yellow('runner')}  the server has not confirmed the end of ${runs.join(', ')}; it may execute again`,
      ),
    ...(!quiet && {
      onAttemptEnd: attemptLines({ line, paint }),
      onRunLog: runLines(screen, { json, raw: asItIs }),
    }),
    onOutput: (stream, output) => {
      if (quiet) return;
      if (asItIs) return raw(output);
      const trimmed = output.trimEnd();
      text(stream === 'stderr' ? paint.yellow(trimmed) : trimmed);
    },
    onState: (state, detail) => {
      if (state === 'disconnected') {
        line(
          `${paint.yellow('runner')}  ${wasConnected ? 'disconnected from the server' : 'waiting for the server'}${detail ? `: ${detail}` : ''}`,
        );
        wasConnected = false;
      }
      if (state === 'connected') {
        if (!wasConnected) line(`${paint.green('runner')}  connected`);
        wasConnected = true;
      }
    },
  };
}
