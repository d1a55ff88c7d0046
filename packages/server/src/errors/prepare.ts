import type { SerializedError } from '@millrace/contract/runner';
import { storable } from './fingerprint/bounds.ts';
import { errorGroupId, fingerprintOf, type ThrownError } from './fingerprint/index.ts';
import { fingerprintOfM1 } from './fingerprint/m1/index.ts';
import type { Match } from './rules/rule.ts';

/** What recording wants to know of one failure. */
export interface PreparedFailure {
  readonly env: number;
  readonly task: string;
  readonly fingerprint: string;
  /** Those that it had before the rules of fingerprints changed, the latest first: it stays in the group that one of them has. */
  readonly older: readonly string[];
  /** Id of the group that it begins unless its fingerprint is known, `error_…`. */
  readonly group: string;
  readonly type: string;
  /** Normalised. */
  readonly message: string;
  /** JSON text; wanted the first time that the fingerprint is met. */
  readonly sample: () => string;
}

const maxFingerprint = 256;
const maxMatched = 2_048;
const maxSampleMessage = 2_048;
const maxSampleStack = 8_192;

export interface Grouping {
  /** The project's rules. */
  readonly match?: Match | undefined;
  /** What the task's author groups all its errors under. */
  readonly ofTask?: string | undefined;
}

/** Finds the fingerprint of a failure: by a rule, by what its author set on the error or on the task, else by what the error says. */
export function prepareFailure(
  env: number,
  task: string,
  error: SerializedError,
  { match, ofTask }: Grouping = {},
): PreparedFailure {
  const thrown = thrownError(error, task);
  const computed = fingerprintOf(thrown);
  const type = storable(computed.type) || 'Error';
  const message = storable(computed.message) || 'Error';
  const chosen =
    match?.({ task, type, messages: [cut(error.message, maxMatched), message] }) ??
    ownFingerprint(error.fingerprint) ??
    ownFingerprint(ofTask);
  const fingerprint = chosen ?? computed.fingerprint;
  return {
    env,
    task,
    fingerprint,
    // Asked for only when the fingerprint was never met.
    get older() {
      return chosen === undefined ? [fingerprintOfM1(thrown)] : [];
    },
    group: errorGroupId(String(env), task, fingerprint),
    type,
    message,
    sample: () =>
      JSON.stringify({
        name: cut(error.name, 200),
        message: cut(error.message, maxSampleMessage),
        stackTrace: cut(error.stackTrace, maxSampleStack),
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
  const text = storable(given.slice(0, maxFingerprint)).trim();
  return text === '' ? undefined : text;
}

/** What a runner sends is not to be trusted: a name may be no string at all. */
const cut = (text: unknown, most: number): string =>
  storable(typeof text === 'string' ? text.slice(0, most) : '');
