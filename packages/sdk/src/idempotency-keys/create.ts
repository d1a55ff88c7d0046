import { currentRun } from '../run-scope.ts';

/** The scope in which a key is unique: the run that triggers, one attempt of it, or the whole environment. */
export type IdempotencyKeyScope = 'run' | 'attempt' | 'global';

export interface IdempotencyKeyOptions {
  /** Default `run`, which is the same as `global` outside of runs. */
  scope?: IdempotencyKeyScope;
}

/** The parts from which a key was created; the server shows them instead of the digest. */
export interface KeyOrigin {
  readonly key: string;
  readonly scope: IdempotencyKeyScope;
}

const digestLength = 64;
const maxOrigins = 10_000;
const origins = new Map<string, KeyOrigin>();

/** The parts from which a key was created in this process. */
export const originOf = (key: string): KeyOrigin | undefined => origins.get(key);

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function scopeParts(scope: IdempotencyKeyScope): string[] {
  const run = currentRun();
  if (!run || scope === 'global') return [];
  return scope === 'run' ? [run.run] : [run.run, String(run.attempt)];
}

/**
 * Creates an idempotency key: 64 hex digits, the SHA-256 of its parts and its scope. Triggers of one task with the same key create one run,
 * regardless of the caller. With the scope `run`, each triggering run has its own keys, the same in all its attempts. With `attempt`, a retry
 * triggers again. With `global`, the key is the same everywhere.
 *
 * @example
 * const key = await idempotencyKeys.create(['welcome', user.id], { scope: 'global' });
 * await sendMail.trigger({ user }, { idempotencyKey: key, idempotencyKeyTTL: '1h' });
 */
export async function create(
  key: string | readonly string[],
  { scope = 'run' }: IdempotencyKeyOptions = {},
): Promise<string> {
  const parts = typeof key === 'string' ? [key] : key;
  if (parts.join('') === '') {
    throw new TypeError(
      'An idempotency key must not be empty: all triggers with it would share one run. Omit it to trigger without a key.',
    );
  }
  const created = await sha256([...parts, ...scopeParts(scope)].join('-'));
  // The oldest are dropped: the parts are only for display.
  if (origins.size >= maxOrigins)
    for (const old of origins.keys()) {
      origins.delete(old);
      break;
    }
  origins.set(created, { key: parts.join('-'), scope });
  return created;
}

/** The trigger options that contain the key. A key that is not a digest yet becomes one, scoped to the run if there is one. */
export async function keyMembers(
  key: string | readonly string[],
): Promise<{ idempotencyKey: string; idempotencyKeyOptions?: KeyOrigin }> {
  const isCreated = typeof key === 'string' && key.length === digestLength;
  const idempotencyKey = isCreated ? key : await create(key);
  const origin = originOf(idempotencyKey);
  return { idempotencyKey, ...(origin && { idempotencyKeyOptions: origin }) };
}
