import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { Clock } from '../db/clock.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { markerForms } from './keys.ts';
import { delegateOf, signingKeysOf, type Delegate, type SigningKeyRow } from './credential-rows.ts';
import type { Environment } from './principal.ts';
import { LookupCache, type Loaded } from './lookup-cache.ts';
import { createTokenClock } from './token-clock.ts';
import { seal, secretKeyContext, signingKeyContext, unseal, type MasterKey } from './seal.ts';

export interface SigningKey {
  readonly credentialId: string;
  readonly scopes: readonly string[];
  /** It belongs to the server; no client has it. */
  readonly isServers: boolean;
  readonly expiresAt: Date | null;
  /** The HMAC keys. A secret key has one for each prefix, because a client signs with the text it received. */
  readonly forms: readonly KeyObject[];
}

export interface SigningKeys {
  readonly environment: Environment;
  /** Live keys by id: the server's own first, newest first. */
  readonly keys: ReadonlyMap<string, SigningKey>;
  /** Milliseconds since 1970 by the database's clock: one server signs, another verifies, and their clocks may differ. */
  now(): number;
}

/** The keys that sign public tokens, by the environment's public id; undefined for an unknown environment. */
export interface SigningKeyRing {
  of(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>>;
  /** Loads the keys again, because a token that matches no cached key may be signed with a newer one. */
  anew(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>>;
  /** Clears the cache: a key or an environment has just been revoked. */
  clearCache(): void;
  /** The user of a personal access token that created a token; undefined if that token has ended. */
  delegate(personalAccessTokenId: string, projectId: number): Promise<Delegate | undefined>;
}

/** Only the shift that tests apply to `clock` is used. */
export function createSigningKeyRing(
  sql: Sql,
  masterKey: MasterKey,
  clock: Pick<Clock, 'shiftedMs'> = { shiftedMs: 0 },
): SigningKeyRing {
  const time = createTokenClock();
  const cache = new LookupCache<SigningKeys | undefined>({ maxAgeMs: 1_000, dueMs: 500, maxEntries: 1_000 });

  async function loadKeys(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>> {
    const asOf = performance.now();
    const found = await signingKeysOf(sql, environmentPublicId);
    if (!found) return { value: undefined, asOf };
    const keys = new Map(found.keys.map((row) => [row.credentialId, opened(masterKey, row)]));
    const endsInMs = Math.min(...found.keys.map((row) => row.endsInMs ?? Infinity));
    time.measured(found.now - (asOf + performance.now()) / 2);
    const now = () => time.now() + clock.shiftedMs;
    return { value: { environment: found.environment, keys, now }, asOf, endsInMs };
  }

  const anew = (environmentPublicId: string) =>
    cache.load(environmentPublicId, () => loadKeys(environmentPublicId));

  return {
    async of(environmentPublicId) {
      const known = cache.find(environmentPublicId);
      if (known === undefined) return anew(environmentPublicId);
      if (cache.isDue(environmentPublicId, known)) anew(environmentPublicId).catch(() => {});
      return known;
    },
    anew,
    clearCache: () => cache.clear(),
    delegate: (personalAccessTokenId, projectId) => delegateOf(sql, personalAccessTokenId, projectId),
  };
}

function opened(
  masterKey: MasterKey,
  { credentialId, scopes, sealed, isServers, expiresAt }: SigningKeyRow,
): SigningKey {
  const context = isServers ? signingKeyContext(credentialId) : secretKeyContext(credentialId);
  const text = unseal(masterKey, sealed, context);
  const forms = (isServers ? [text] : markerForms(text)).map((form) => createSecretKey(form, 'utf8'));
  return { credentialId, scopes, isServers, expiresAt, forms };
}

/** Creates the signing key of an environment. The environment must not have another current one. */
export async function addSigningKey(
  sql: Queryable,
  masterKey: MasterKey,
  environmentId: number,
): Promise<string> {
  const id = newId('signing');
  const sealed = seal(masterKey, randomBytes(32).toString('base64url'), signingKeyContext(id));
  await sql`insert into signing_keys (id, environment_id, sealed) values (${id}, ${environmentId}, ${sealed})`;
  return id;
}

/** Creates signing keys for environments of older databases that have none. */
export async function addMissingSigningKeys(sql: Queryable, masterKey: MasterKey): Promise<void> {
  const without = await sql<{ id: number }[]>`
    select e.id from environments e
     where e.parent_id is null and not exists (
       select from signing_keys s where s.environment_id = e.id and s.expires_at is null)`;
  for (const { id } of without) await addSigningKey(sql, masterKey, id);
}
