/** Redacts runners' reports about attempts. */
import { sealedType } from '@millrace/contract';
import type { LogLine, Outcome } from '@millrace/contract/runner';
import type { InParts } from '../../json/parts.ts';
import type { Redactor } from './redactor.ts';

export function redactOutcome(redactor: Redactor, outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'completed': {
      const { output, outputType } = outcome;
      // A sealed output contains nothing to redact, and a change would corrupt it.
      if (typeof output !== 'string' || outputType === sealedType) return outcome;
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

/** Like `redactOutcome`, for an outcome with a long output, in parts. */
export function* redactOutcomeParts(redactor: Redactor, outcome: Outcome): InParts<Outcome> {
  if (outcome.kind !== 'completed' || outcome.output === null || outcome.outputType === sealedType)
    return redactOutcome(redactor, outcome);
  const { output, outputType } = outcome;
  const clean = yield* redactor.parts(output, outputType.includes('json'));
  return clean === output ? outcome : { ...outcome, output: clean };
}

/** Redacts every string in a JSON value, regardless of its declared type: a runner's messages are not validated in depth. */
export function redactTexts<T>(redactor: Redactor, value: T): T {
  const written = JSON.stringify(value);
  if (!redactor.mayConcern(written)) return value;
  return JSON.parse(written, (_, member: unknown) =>
    typeof member === 'string' ? redactor.text(member) : member,
  ) as T;
}

export const redactLines = (redactor: Redactor, lines: readonly LogLine[]): readonly LogLine[] =>
  lines.map((line) => redactLine(redactor, line));

export function redactLine(redactor: Redactor, line: LogLine): LogLine {
  const message = redactor.text(line.message);
  const properties = line.properties === undefined ? undefined : redactor.json(line.properties);
  if (message === line.message && properties === line.properties) return line;
  return { ...line, message, ...(properties !== undefined && { properties }) };
}
