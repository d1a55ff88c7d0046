import type { LogLine } from '@millrace/contract/runner';
import { longest } from '../executor/capture-console.ts';
import type { Executor } from './executor.ts';

type Stream = 'stdout' | 'stderr';

export interface DirectOutputOptions {
  readonly log: (lines: readonly LogLine[]) => void;
  /** Output that does not belong to any run. */
  readonly onOutput: (stream: Stream, text: string) => void;
}

/**
 * Output that a process wrote directly to file descriptors 1 and 2: by logger threads and by programs that a task starts. It has no
 * reference to a run, so it is added to a run's log only if no other run can have written it.
 */
export class DirectOutput {
  readonly #options: DirectOutputOptions;
  /** Processes whose output could not be added to a run's log, once this has been reported. */
  readonly #noted = new WeakSet<Executor>();

  constructor(options: DirectOutputOptions) {
    this.#options = options;
  }

  write(executor: Executor, stream: Stream, text: string): void {
    const { log, onOutput } = this.#options;
    const writers = executor.writers();
    const [writer] = writers;
    if (writers.length === 1 && writer && !executor.seals) return log(linesOf(writer, stream, text));
    if (writers.length > 0 && !this.#noted.has(executor)) {
      this.#noted.add(executor);
      onOutput('stderr', executor.seals ? sealedNote : sharedNote);
    }
    onOutput(stream, text);
  }
}

const sharedNote =
  'The following output is not in the log of a run: it was written directly to file descriptor 1 or 2 while several runs shared the process.\n';
const sealedNote =
  'The following output is not in the log of a run: it was written directly to file descriptor 1 or 2, and the codec of the project seals only console and logger output.\n';

function linesOf(
  { run, attempt }: Pick<LogLine, 'run' | 'attempt'>,
  stream: Stream,
  text: string,
): LogLine[] {
  const at = Date.now();
  const level = stream === 'stdout' ? 'log' : 'error';
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  return lines.map((line) => ({ run, attempt, at, level, message: line.slice(0, longest) }));
}
