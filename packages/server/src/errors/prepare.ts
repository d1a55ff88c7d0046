import type { SerializedError } from '@millrace/contract/runner';
import { storable } from './fingerprint/bounds.ts';
import { errorGroupId, fingerprintOf, type ThrownError } from './fingerprint/index.ts';

/** What `record_errors` wants to know of one failure. */
export interface PreparedFailure {
  readonly fingerprint: string;
  /** Id of its group, `error_…`. */
  readonly group: string;
  readonly type: string;
  /** Normalised. */
  readonly message: string;
  /** JSON text; the group keeps that of its first occurrence. */
  readonly sample: string;
}

const mostFingerprint = 256;
const mostSampleMessage = 2_048;
const mostSampleStack = 8_192;

/** Finds the group of a failure: by the author's own fingerprint if the error has one, else by what the error says. */
export function prepareFailure(
  environment: number | string,
  task: string,
  error: SerializedError,
): PreparedFailure {
  const computed = fingerprintOf(thrownError(error, task));
  const fingerprint = ownFingerprint(error.fingerprint) ?? computed.fingerprint;
  return {
    fingerprint,
    group: errorGroupId(String(environment), task, fingerprint),
    type: storable(computed.type) || 'Error',
    message: storable(computed.message) || 'Error',
    sample: JSON.stringify({
      name: cut(error.name, 200),
      message: cut(error.message, mostSampleMessage),
      stackTrace: cut(error.stackTrace, mostSampleStack),
      code: error.code === undefined ? undefined : cut(error.code, 200),
    }),
  };
}

function thrownError(error: SerializedError, taskIdentifier?: string): ThrownError {
  return {
    taskIdentifier,
    name: error.name,
    message: error.message,
    stack: error.stackTrace,
    code: error.code,
    causes: Array.isArray(error.causes) ? error.causes.map((cause) => thrownError(cause)) : undefined,
  };
}

function ownFingerprint(given: unknown): string | undefined {
  if (typeof given !== 'string') return undefined;
  const text = storable(given.slice(0, mostFingerprint)).trim();
  return text === '' ? undefined : text;
}

/** What a runner sends is not to be trusted: a name may be no string at all. */
const cut = (text: unknown, most: number): string =>
  storable(typeof text === 'string' ? text.slice(0, most) : '');
