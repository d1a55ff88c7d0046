import { currentRun } from '../run-scope.ts';

/** Where a key means the same: in one run (the one that triggers), in one attempt of it, or everywhere. */
export type IdempotencyKeyScope = 'run' | 'attempt' | 'global';

export interface IdempotencyKeyOptions {
  /** Default `run`, which outside of runs is the same as `global`. */
  scope?: IdempotencyKeyScope;
}

/** What a key was made of; the server shows it instead of the digest. */
export interface KeyOrigin {
  readonly key: string;
  readonly scope: IdempotencyKeyScope;
}

const digestLength = 64;
const maxOrigins = 10_000;
const origins = new Map<string, KeyOrigin>();

/** What a key of this process was made of. */
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
 * An idempotency key: 64 hex digits, the SHA-256 of its parts and of what it is scoped to. Triggers of one task with the same key make
 * one run, whoever calls. With the scope `run`, each run that triggers has keys of its own, the same in all its attempts; with
 * `attempt`, a retry triggers anew; with `global`, the key is the same everywhere.
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
      'An idempotency key must not be empty: all triggers with it would be one run. Leave it out for none.',
    );
  }
  const made = await sha256([...parts, ...scopeParts(scope)].join('-'));
  // The oldest go: what they were made of is only for people to read.
  if (origins.size >= maxOrigins)
    for (const old of origins.keys()) {
      origins.delete(old);
      break;
    }
  origins.set(made, { key: parts.join('-'), scope });
  return made;
}

/** The members of a trigger's options that say its key: one that is no digest yet becomes one, of the run if there is one. */
export async function keyMembers(
  key: string | readonly string[],
): Promise<{ idempotencyKey: string; idempotencyKeyOptions?: KeyOrigin }> {
  const isMade = typeof key === 'string' && key.length === digestLength;
  const idempotencyKey = isMade ? key : await create(key);
  const origin = originOf(idempotencyKey);
  return { idempotencyKey, ...(origin && { idempotencyKeyOptions: origin }) };
}
