import { withoutHelp } from '@millrace/contract/help';
import type { SerializedError } from '@millrace/contract/runner';
import { boundedText } from '../bounded-text.ts';
import { objectText } from '../logger/properties.ts';
import { projectStack } from '../project-stack.ts';
import { thrownContent } from './thrown-content.ts';

export const bounds = { name: 256, message: 16_384, stack: 65_536, code: 128, fingerprint: 256 };
export const maxLevels = 3;
export const maxCauses = 9;

/** Reads a property safely: getters and proxies may throw. */
function read(from: object, key: string): unknown {
  try {
    return (from as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  try {
    return typeof value === 'object' && value !== null ? objectText(thrownContent(value)) : String(value);
  } catch {
    return `a ${typeof value} that cannot be read`;
  }
}

/** The error's name, or the name of its class if the name is just `Error`. */
function nameOf(error: object): string {
  const name = read(error, 'name');
  if (typeof name === 'string' && name !== '' && name !== 'Error') return boundedText(name, bounds.name);
  const constructor = read(error, 'constructor');
  const className = typeof constructor === 'function' ? read(constructor, 'name') : undefined;
  // Bundlers prefix the name of a class with `_` if its own body refers to it.
  const plain = typeof className === 'string' ? className.replace(/^_+/, '') : '';
  return plain === '' || plain === 'Object' ? 'Error' : boundedText(plain, bounds.name);
}

// Detected by shape, not only by class: an error may come from another realm, such as a vm context.
const isErrorLike = (value: object) =>
  value instanceof Error ||
  (typeof read(value, 'message') === 'string' && typeof read(value, 'stack') === 'string');

interface Walk {
  readonly seen: Set<unknown>;
  left: number;
}

/** The cause of an error and its `errors`. On an object that is not an error, these properties may contain anything. */
function causesOf(thrown: object, isError: boolean, level: number, walk: Walk): SerializedError[] {
  if (level >= maxLevels) return [];
  const children = read(thrown, 'errors');
  const members = new Set<unknown>(Array.isArray(children) ? children.slice(0, maxCauses) : []);
  // An ErrorEvent has `error`, a PromiseRejectionEvent `reason`.
  const keys = isError ? ['cause'] : ['cause', 'error', 'reason'];
  const causes = new Set([...keys.map((key) => read(thrown, key)), ...members]);
  const serialized: SerializedError[] = [];
  for (const cause of causes) {
    if (cause === undefined || cause === null || walk.left === 0 || walk.seen.has(cause)) continue;
    if (!isError && !(typeof cause === 'object' && isErrorLike(cause))) continue;
    walk.left -= 1;
    serialized.push({
      ...serialize(cause, level + 1, walk),
      ...(members.has(cause) && { isMember: true }),
    });
  }
  return serialized;
}

function serialize(thrown: unknown, level: number, walk: Walk): SerializedError {
  if (typeof thrown === 'string') {
    return {
      type: 'STRING_ERROR',
      name: 'string',
      message: boundedText(thrown, bounds.message),
      stackTrace: '',
    };
  }
  if (typeof thrown !== 'object' || thrown === null) {
    const name = thrown === null ? 'null' : typeof thrown;
    return {
      type: 'CUSTOM_ERROR',
      name,
      message: boundedText(textOf(thrown), bounds.message),
      stackTrace: '',
    };
  }
  walk.seen.add(thrown);
  const isError = isErrorLike(thrown);
  const original = isError ? read(thrown, 'message') : thrown;
  // Only the message of a run's error is stored, without the help address, because errors with the same message form one group. The address
  // is added again when the error is displayed.
  const message = typeof original === 'string' ? withoutHelp(original) : original;
  const stack = withoutHelpIn(read(thrown, 'stack'), original, message);
  const code = read(thrown, 'code');
  const fingerprint = read(thrown, 'fingerprint');
  const causes = causesOf(thrown, isError, level, walk);
  return {
    type: isError ? 'BUILT_IN_ERROR' : 'CUSTOM_ERROR',
    name: nameOf(thrown),
    message: boundedText(typeof message === 'string' ? message : textOf(message ?? ''), bounds.message),
    stackTrace: typeof stack === 'string' ? boundedText(projectStack(stack), bounds.stack) : '',
    ...(typeof code === 'string' || typeof code === 'number'
      ? { code: boundedText(String(code), bounds.code) }
      : {}),
    ...(typeof fingerprint === 'string' && fingerprint !== ''
      ? { fingerprint: boundedText(fingerprint, bounds.fingerprint) }
      : {}),
    ...(causes.length > 0 ? { causes } : {}),
  };
}

/** A stack with its message in the stored form. */
const withoutHelpIn = (stack: unknown, original: unknown, message: unknown): unknown =>
  typeof stack === 'string' && typeof original === 'string' && original !== message
    ? stack.replace(original, () => String(message))
    : stack;

/**
 * Any thrown value, made safe to send and store: bounded, free of NUL and lone surrogates, with its causes (and the errors of an
 * AggregateError) up to 3 levels deep. Never throws, even for getters and proxies that do.
 */
export function serializeError(thrown: unknown): SerializedError {
  try {
    return serialize(thrown, 0, { seen: new Set(), left: maxCauses });
  } catch {
    return internalError('UnreadableError', 'The thrown value cannot be read.');
  }
}

/** An error of the platform, not thrown by the run's code. */
export const internalError = (name: string, message: string): SerializedError => ({
  type: 'INTERNAL_ERROR',
  name,
  message: boundedText(withoutHelp(message), bounds.message),
  stackTrace: '',
});
