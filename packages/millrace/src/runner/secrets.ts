import {
  createRedactor,
  redactLines,
  redactOutcome,
  redactTexts,
  type Redactor,
} from '@millrace/server/redact';
import type { RunnerEvents } from './options.ts';

/** Values of the past are looked for as well, since attempts may still have them: the newest so many. */
const maxValues = 2_000;

/** The secrets that the executors of this runner were given, and whatever has the shape of our keys, cut out of what it shows. */
export class Secrets {
  readonly #values = new Set<string>();
  #redactor: Redactor = createRedactor([]);

  learn(variables: Readonly<Record<string, string>>, names: readonly string[] = []): void {
    for (const name of names) {
      const value = variables[name];
      if (value === undefined) continue;
      this.#values.delete(value);
      this.#values.add(value);
    }
    for (const value of this.#values) {
      if (this.#values.size <= maxValues) break;
      this.#values.delete(value);
    }
    this.#redactor = createRedactor(this.#values);
  }

  /** Events whose listeners never see a secret. */
  hiddenFrom({ onAttemptEnd, onOutput, onProblem, onRunLog, ...others }: RunnerEvents): RunnerEvents {
    return {
      ...others,
      ...(onAttemptEnd && {
        onAttemptEnd: (end) =>
          onAttemptEnd({ ...end, outcome: redactOutcome(this.#redactor, end.outcome) as typeof end.outcome }),
      }),
      ...(onOutput && { onOutput: (stream, text) => onOutput(stream, this.#redactor.text(text)) }),
      ...(onProblem && { onProblem: (problem) => onProblem(redactTexts(this.#redactor, problem)) }),
      ...(onRunLog && { onRunLog: (lines) => onRunLog(redactLines(this.#redactor, lines)) }),
    };
  }
}
