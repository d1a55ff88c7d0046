import {
  createRedactor,
  redactLines,
  redactOutcome,
  redactTexts,
  type Redactor,
} from '@millrace/server/redact';
import type { LogLine, Settlement, SpanChunk } from '@millrace/contract/runner';
import type { Problem } from '@millrace/diagnostics';
import type { RunnerEvents } from './options.ts';

/** Number of old values that are also redacted, because attempts may still use them. */
const maxValues = 2_000;

/** Adds values, the newest last, and drops the oldest. */
function keep(values: Set<string>, more: readonly string[]): void {
  for (const value of more) {
    values.delete(value);
    values.add(value);
  }
  for (const value of values) {
    if (values.size <= maxValues) break;
    values.delete(value);
  }
}

/** Redacts the secrets of this runner's executors and Millrace's own credentials in the runner's output. */
export class Secrets {
  readonly #values = new Set<string>();
  /** Values of variables that are unknown to the server, which therefore cannot redact them. */
  readonly #outside = new Set<string>();
  #redactor: Redactor = createRedactor([]);
  #outsideRedactor: Redactor | undefined;

  /**
   * Sets the variables of the environment, which of them are secrets, and the values unknown to the server, which are also redacted in sent
   * data.
   */
  learn(
    variables: Readonly<Record<string, string>>,
    names: readonly string[] = [],
    outside: readonly string[] = [],
  ): void {
    keep(
      this.#values,
      names.flatMap((name) => variables[name] ?? []),
    );
    keep(this.#outside, outside);
    this.#redactor = createRedactor([...this.#values, ...this.#outside]);
    if (outside.length > 0) this.#outsideRedactor = createRedactor(this.#outside);
  }

  /** Redacts the outcome of an attempt before it is sent to the server. */
  outcome(settlement: Settlement): Settlement {
    const redactor = this.#outsideRedactor;
    return redactor ? { ...settlement, outcome: redactOutcome(redactor, settlement.outcome) } : settlement;
  }

  /** Redacts log lines before they are sent to the server. */
  lines(lines: readonly LogLine[]): readonly LogLine[] {
    return this.#outsideRedactor ? redactLines(this.#outsideRedactor, lines) : lines;
  }

  /** Redacts spans before they are sent to the server. */
  spans(chunks: readonly SpanChunk[]): readonly SpanChunk[] {
    return this.#outsideRedactor ? redactTexts(this.#outsideRedactor, chunks) : chunks;
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
