import type { SerializedError } from '@millrace/contract/runner';
import { earlierIds, fingerprint, storable, type ThrownError } from '@millrace/fingerprint';
import type { Match } from '../rules/rule.ts';
import { errorGroupId } from './group-id.ts';

/** The data required to record one failure. */
export interface PreparedFailure {
  readonly env: number;
  readonly task: string;
  readonly fingerprint: string;
  /** The fingerprints that earlier versions of the algorithm computed, latest first. The failure stays in the group of the first known one. */
  readonly older: readonly string[];
  /** Id of the group that it starts if its fingerprint is not known, `error_…`. */
  readonly group: string;
  readonly type: string;
  /** The normalized message. */
  readonly message: string;
  /** The sample as JSON text. Computed only for an unknown fingerprint. */
  readonly sample: () => string;
}

const maxFingerprint = 256;
const maxMatched = 2_048;
const maxSampleMessage = 2_048;
const maxSampleStack = 8_192;

export interface Grouping {
  /** The project's rules. */
  readonly match?: Match | undefined;
  /** The fingerprint in the task's options. */
  readonly ofTask?: string | undefined;
}

/**
 * Finds the fingerprint of a failure: from a project rule, otherwise from the error, otherwise from the task's options, otherwise computed
 * from the error.
 */
export function prepareFailure(
  env: number,
  task: string,
  error: SerializedError,
  { match, ofTask }: Grouping = {},
): PreparedFailure {
  const thrown = thrownError(error, task);
  const computed = fingerprint(thrown);
  const type = storable(computed.parts.type) || 'Error';
  const message = storable(computed.parts.message) || 'Error';
  const chosen =
    match?.({ task, type, messages: [cut(error.message, maxMatched), message] }) ??
    ownFingerprint(error.fingerprint) ??
    ownFingerprint(ofTask);
  const id = chosen ?? computed.id;
  return {
    env,
    task,
    fingerprint: id,
    // Read only for an unknown fingerprint.
    get older() {
      return chosen === undefined ? earlierIds(thrown) : [];
    },
    group: errorGroupId(String(env), task, id),
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

function ownFingerprint(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = storable(value.slice(0, maxFingerprint)).trim();
  return text === '' ? undefined : text;
}

/** A runner's input is untrusted: a name may not be a string. */
const cut = (text: unknown, max: number): string =>
  storable(typeof text === 'string' ? text.slice(0, max) : '');
