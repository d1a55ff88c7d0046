/** What runners tell about attempts, without the secrets of the environment in it. */
import type { LogLine, Outcome, SerializedError } from '@millrace/contract/runner';
import type { Redactor } from './redactor.ts';

export function redactOutcome(redactor: Redactor, outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'completed': {
      const { output, outputType } = outcome;
      if (typeof output !== 'string') return outcome;
      const clean = outputType.includes('json') ? redactor.json(output) : redactor.text(output);
      return { ...outcome, output: clean };
    }
    case 'failed':
    case 'retry':
      return { ...outcome, error: redactError(redactor, outcome.error) };
    default:
      return outcome;
  }
}

/** Every text of it; what a runner sends is not to be trusted to hold texts alone. */
export function redactError(redactor: Redactor, error: SerializedError): SerializedError {
  return JSON.parse(JSON.stringify(error), (_, member: unknown) =>
    typeof member === 'string' ? redactor.text(member) : member,
  ) as SerializedError;
}

export const redactLines = (redactor: Redactor, lines: readonly LogLine[]): readonly LogLine[] =>
  lines.map((line) => ({
    ...line,
    message: redactor.text(line.message),
    ...(line.properties !== undefined && { properties: redactor.json(line.properties) }),
  }));
