import { finalStatuses, maxJsonLevels, maxPacketBytes } from '@millrace/contract';
import { machinePresets, type Outcome } from '@millrace/contract/runner';
import { isTooDeep, isTooDeepParts } from '../../json/levels.ts';
import { inTurns, partLength } from '../../json/parts.ts';
import { fitError } from './fit-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts the message of a runner to an outcome that can be stored and returned. An invalid outcome, or one whose output cannot be stored,
 * becomes an error, because the run must end and the runner needs a reply. Asynchronous only for a long output.
 */
export function fitOutcome(sent: unknown): Outcome | Promise<Outcome> {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent))
    return invalid('outcome must be an object');
  const outcome = sent as Fields;
  switch (outcome['kind']) {
    case 'completed':
      return fitCompleted(outcome);
    case 'failed': {
      const { status } = outcome;
      if (!isFailure(status)) return invalid(`outcome.status must be one of ${failures.join(', ')}`);
      return { kind: 'failed', status, error: fitError(outcome['error']) };
    }
    case 'retry': {
      const { delayMs } = outcome;
      if (typeof delayMs !== 'number') return invalid('outcome.delayMs must be a number');
      const machine = machinePresets.find((preset) => preset === outcome['machine']);
      return { kind: 'retry', delayMs, error: fitError(outcome['error']), ...(machine && { machine }) };
    }
    case 'released':
      return { kind: 'released', ...(outcome['started'] === true && { started: true }) };
    case 'canceled':
    case 'unknownTask':
      return { kind: outcome['kind'] };
    default:
      return invalid('outcome.kind must be completed, failed, retry, canceled, released or unknownTask');
  }
}

type Failure = Extract<Outcome, { kind: 'failed' }>['status'];
const failures = finalStatuses.filter(
  (status): status is Failure => status !== 'COMPLETED' && status !== 'CANCELED' && status !== 'EXPIRED',
);
const isFailure = (status: unknown): status is Failure => (failures as readonly unknown[]).includes(status);

const maxTypeCharacters = 256;

function fitCompleted({ output, outputType }: Fields): Outcome | Promise<Outcome> {
  if (output !== null && typeof output !== 'string')
    return invalid('outcome.output must be a string or null');
  if (typeof outputType !== 'string' || outputType.length > maxTypeCharacters || outputType.includes('\0'))
    return invalid(`outcome.outputType must be a string of at most ${maxTypeCharacters} characters`);
  if (output === null) return { kind: 'completed', output, outputType };
  if (output.length > maxPacketBytes / 3 && Buffer.byteLength(output) > maxPacketBytes) {
    return refused(
      'OutputTooLargeError',
      `The output is larger than ${maxPacketBytes} bytes. Store it elsewhere and return a reference.`,
    );
  }
  const fitting: Outcome = { kind: 'completed', output, outputType };
  if (!outputType.includes('json')) return fitting;
  if (output.length <= partLength) return isTooDeep(output) ? tooDeep : fitting;
  return inTurns(isTooDeepParts(output)).then((isDeep) => (isDeep ? tooDeep : fitting));
}

const refused = (name: string, message: string): Outcome => ({
  kind: 'failed',
  status: 'FAILED',
  error: { type: 'INTERNAL_ERROR', name, message, stackTrace: '' },
});

const tooDeep = refused(
  'OutputUnserializableError',
  `The output is nested more than ${maxJsonLevels} levels deep. Return a flatter value.`,
);

const invalid = (fault: string): Outcome => ({
  kind: 'failed',
  status: 'SYSTEM_FAILURE',
  error: {
    type: 'INTERNAL_ERROR',
    name: 'InvalidOutcome',
    code: 'INVALID_OUTCOME',
    message: `The runner reported the end of this run in an invalid message: ${fault}.`,
    stackTrace: '',
  },
});
