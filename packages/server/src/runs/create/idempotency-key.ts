import { createHash } from 'node:crypto';

/** PostgreSQL's indexes take no more than about 2,700 bytes, and the environment and the task are beside the key. */
const maxBytes = 2_000;

/** The first character of a stored wait key, and of no other key. The SQL function `claim_idempotency_keys` knows it, too. */
const waitMark = '\u0001';

/** How long a wait key is remembered, in milliseconds: longer than any run is kept. */
export const waitKeyMs = 3_650 * 86_400_000;

/** An idempotency key as it is stored: the key itself, or a digest of one that is too long for an index. */
export const storedKey = (key: string): string =>
  (key.length * 3 <= maxBytes || Buffer.byteLength(key) <= maxBytes) && !key.startsWith(waitMark)
    ? key
    : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** The same for the key of a wait, by which an attempt that runs again finds what it made before. No user's key leads there. */
export const storedWaitKey = (key: string): string => waitMark + key;

/** A stored key as replies show it. Wait keys are not shown. */
export const shownKey = (stored: string | null): string | undefined =>
  stored === null || stored.startsWith(waitMark) ? undefined : stored;

/** What a trigger says of its key beside it. */
export interface IdempotencyKeyOptions {
  readonly key: string;
  readonly scope: string;
}

/** What an attempt is told of the key of its run: the caller's own text where the trigger said it, with its scope, else the stored one. */
export const givenKey = (stored: string | null, options: IdempotencyKeyOptions | null) => ({
  idempotencyKey: options?.key ?? shownKey(stored) ?? null,
  idempotencyKeyScope: options?.scope ?? null,
});
