import { createHash } from 'node:crypto';

/** PostgreSQL index entries are limited to about 2,700 bytes, which the key shares with the environment and the task. */
const maxBytes = 2_000;

/** The first character of a stored wait key, and of no other key. The SQL function `claim_idempotency_keys` also uses it. */
const waitMark = '\u0001';

/** The lifetime of a wait key, in milliseconds: longer than any run is retained. */
export const waitKeyMs = 3_650 * 86_400_000;

/** The stored form of an idempotency key: the key itself, or a digest if it is too long for an index. */
export const storedKey = (key: string): string =>
  (key.length * 3 <= maxBytes || Buffer.byteLength(key) <= maxBytes) && !key.startsWith(waitMark)
    ? key
    : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/**
 * The same for a wait key, with which an attempt that is executed again finds the runs it created before. User-supplied keys cannot match
 * it.
 */
export const storedWaitKey = (key: string): string => waitMark + key;

/** A stored key in the form returned in responses. Wait keys are omitted. */
export const shownKey = (stored: string | null): string | undefined =>
  stored === null || stored.startsWith(waitMark) ? undefined : stored;

/** The options of a trigger's key. */
export interface IdempotencyKeyOptions {
  readonly key: string;
  readonly scope: string;
}

/**
 * The key of its run as an attempt receives it: the caller's own text with its scope if the trigger included it, otherwise the stored key.
 */
export const attemptKey = (stored: string | null, options: IdempotencyKeyOptions | null) => ({
  idempotencyKey: options?.key ?? shownKey(stored) ?? null,
  idempotencyKeyScope: options?.scope ?? null,
});
