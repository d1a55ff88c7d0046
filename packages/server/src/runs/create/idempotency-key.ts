import { createHash } from 'node:crypto';

/** PostgreSQL's indexes take no more than about 2,700 bytes, and the environment and the task are beside the key. */
const maxBytes = 2_000;

/** The first character of a stored wait key, and of no user's key. `trigger_runs` knows it. */
const waitMark = '\u0001';

/** How long a wait key is remembered, in milliseconds: longer than any run is kept. */
export const waitKeyMs = 3_650 * 86_400_000;

/** An idempotency key as it is stored and looked for: itself, or a digest of it where it cannot be stored so. */
export const storedKey = (key: string): string =>
  (key.length * 3 <= maxBytes || Buffer.byteLength(key) <= maxBytes) && !key.startsWith(waitMark)
    ? key
    : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** The same for a key by which an attempt that runs again finds what it made before: nobody else's key leads there. */
export const storedWaitKey = (key: string): string => waitMark + key;

/** A stored key as replies show it. Wait keys are nobody's business. */
export const shownKey = (stored: string | null): string | undefined =>
  stored === null || stored.startsWith(waitMark) ? undefined : stored;
