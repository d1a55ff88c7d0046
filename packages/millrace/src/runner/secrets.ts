import { createRedactor, redactTexts, type Redactor } from '@millrace/server/redact';
import type { RunnerEvents } from './options.ts';

/** Values of the past are looked for as well, since attempts may still have them: the newest so many. */
const mostValues = 2_000;

/** The secrets that the executors of this runner were given, cut out of what it shows. */
export class Secrets {
  readonly #values = new Set<string>();
  #redactor: Redactor | undefined;

  learn(variables: Readonly<Record<string, string>>, names: readonly string[] = []): void {
    for (const name of names) {
      const value = variables[name];
      if (value === undefined) continue;
      this.#values.delete(value);
      this.#values.add(value);
    }
    for (const value of this.#values) {
      if (this.#values.size <= mostValues) break;
      this.#values.delete(value);
    }
    this.#redactor = createRedactor(this.#values);
  }

  /** Events whose listeners never see a secret. */
  hiddenFrom({ onAttemptEnd, onOutput, onProblem, onRunLog, ...others }: RunnerEvents): RunnerEvents {
    const hide = <T>(value: T): T => (this.#redactor ? redactTexts(this.#redactor, value) : value);
    return {
      ...others,
      ...(onAttemptEnd && { onAttemptEnd: (end) => onAttemptEnd(hide(end)) }),
      ...(onOutput && { onOutput: (stream, text) => onOutput(stream, hide(text)) }),
      ...(onProblem && { onProblem: (problem) => onProblem(hide(problem)) }),
      ...(onRunLog && { onRunLog: (lines) => onRunLog(hide(lines)) }),
    };
  }
}
