import { createHash } from 'node:crypto';

/** PostgreSQL's indexes take no more than about 2,700 bytes, and the environment and the task are beside the key. */
const mostBytes = 2_000;

/** An idempotency key as it is stored and looked for: itself, or a digest of it where it is too long for an index. */
export const storedKey = (key: string): string =>
  key.length * 3 <= mostBytes || Buffer.byteLength(key) <= mostBytes
    ? key
    : `sha256:${createHash('sha256').update(key).digest('hex')}`;
