import type { maxStepName as contractLimit } from '@millrace/contract';
import { isStorable } from '../bounded-text.ts';

const maxLength: typeof contractLimit = 200;

/** Validates input from untyped callers. */
export function checkName(what: string, name: unknown): asserts name is string {
  if (typeof name !== 'string') {
    throw new TypeError(
      `${what} requires the name of the step as its first argument, such as ${what}('charge', …); got ${typeof name}.`,
    );
  }
  if (name.trim() === '')
    throw new TypeError(`${what}: the name of a step must not be empty. Use a name such as "charge".`);
  if (name.length > maxLength)
    throw new TypeError(
      `${what}: the name of a step can have at most ${maxLength} characters; "${name.slice(0, 40)}…" has ${name.length}.`,
    );
  if (!isStorable(name))
    throw new TypeError(`${what}: the name of a step must not contain NUL or an unpaired surrogate.`);
  if (/#\d+$/.test(name))
    throw new TypeError(
      `${what}: the name "${name}" ends like an index, which Millrace appends to repeated names. Use another name.`,
    );
}

/** The name with its index. */
export const indexed = (name: string, count: number): string => (count === 1 ? name : `${name}#${count}`);

/**
 * A key with which an external service can identify a step of a run. It is the same in every try, attempt and process. Printable ASCII of
 * at most 255 characters, which headers and payment services accept.
 */
export async function idempotencyKeyOf(run: string, step: string): Promise<string> {
  const key = `${run}/${step}`;
  if (/^[\w./:#-]{1,255}$/.test(key)) return key;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
  return `${run}/sha256-${Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
