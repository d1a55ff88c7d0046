import {
  createRedactor,
  redactLines,
  redactOutcome,
  redactTexts,
  type Redactor,
} from '@millrace/server/redact';
import type { Problem } from '../project/problem.ts';
import type { RunnerEvents } from './options.ts';

/** Number of old values that are redacted too, since attempts may still have them. */
const maxValues = 2_000;

/** Redacts the secrets that this runner's executors got, and Millrace's own credentials, in what the runner prints. */
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

  /** Wraps events so that their listeners never see a secret. */
  hiddenFrom({
    onAttemptEnd,
    onOutput,
    onProblem,
    onRunLog,
    onUnable,
    ...others
  }: RunnerEvents): RunnerEvents {
    return {
      ...others,
      ...(onAttemptEnd && {
        onAttemptEnd: (end) =>
          onAttemptEnd({ ...end, outcome: redactOutcome(this.#redactor, end.outcome) as typeof end.outcome }),
      }),
      ...(onOutput && { onOutput: (stream, text) => onOutput(stream, this.#redactor.text(text)) }),
      ...(onProblem && { onProblem: (problem) => onProblem(this.problem(problem)) }),
      ...(onUnable && { onUnable: (version, why) => onUnable(version, this.text(why)) }),
      ...(onRunLog && { onRunLog: (lines) => onRunLog(redactLines(this.#redactor, lines)) }),
    };
  }

  text(text: string): string {
    return this.#redactor.text(text);
  }

  problem(problem: Problem): Problem {
    return redactTexts(this.#redactor, problem);
  }
}
