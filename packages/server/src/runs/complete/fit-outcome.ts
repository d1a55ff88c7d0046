import { maxJsonLevels, maxPacketBytes } from '@millrace/contract';
import type { Outcome } from '@millrace/contract/runner';
import { isTooDeep } from '../../json/levels.ts';

/** An outcome that can be stored and shown. An output that cannot becomes an error: a run must end whatever its runner sends. */
export function fitOutcome(outcome: Outcome): Outcome {
  if (outcome.kind !== 'completed' || typeof outcome.output !== 'string') return outcome;
  const { output, outputType } = outcome;
  if (String(outputType).includes('json') && isTooDeep(output)) {
    return refused(
      'OutputUnserializableError',
      `The output is nested more than ${maxJsonLevels} levels deep. Return something flatter.`,
    );
  }
  if (output.length > maxPacketBytes / 3 && Buffer.byteLength(output) > maxPacketBytes) {
    return refused(
      'OutputTooLargeError',
      `The output is larger than ${maxPacketBytes} bytes. Store it elsewhere and return where.`,
    );
  }
  return outcome;
}

const refused = (name: string, message: string): Outcome => ({
  kind: 'failed',
  status: 'FAILED',
  error: { type: 'INTERNAL_ERROR', name, message, stackTrace: '' },
});
