/** What runners tell about attempts, without the secrets of the environment in it. */
import type { LogLine, Outcome } from '@millrace/contract/runner';
import type { Redactor } from './redactor.ts';

export function redactOutcome(redactor: Redactor, outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'completed': {
      const { output, outputType } = outcome;
      if (typeof output !== 'string') return outcome;
      const clean = outputType.includes('json') ? redactor.json(output) : redactor.text(output);
      return clean === output ? outcome : { ...outcome, output: clean };
    }
    case 'failed':
    case 'retry':
      return { ...outcome, error: redactTexts(redactor, outcome.error) };
    default:
      return outcome;
  }
}

/** Every text of something that is JSON; what a runner sends is not to be trusted to hold what its type says. */
export function redactTexts<T>(redactor: Redactor, value: T): T {
  const written = JSON.stringify(value);
  if (!redactor.mayConcern(written)) return value;
  return JSON.parse(written, (_, member: unknown) =>
    typeof member === 'string' ? redactor.text(member) : member,
  ) as T;
}

export const redactLines = (redactor: Redactor, lines: readonly LogLine[]): readonly LogLine[] =>
  lines.map((line) => {
    const message = redactor.text(line.message);
    const properties = line.properties === undefined ? undefined : redactor.json(line.properties);
    if (message === line.message && properties === line.properties) return line;
    return { ...line, message, ...(properties !== undefined && { properties }) };
  });
