import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import type { Queryable, Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { markerForms } from './keys.ts';
import { delegateOf, signingKeysOf, type Delegate, type SigningKeyRow } from './look-up.ts';
import type { Environment } from './principal.ts';
import { Recent, type Loaded } from './recent.ts';
import { seal, secretKeyPlace, signingKeyPlace, unseal, type MasterKey } from './seal.ts';

export interface SigningKey {
  readonly credentialId: string;
  readonly scopes: readonly string[];
  /** No client has it: what it signed, the server did. */
  readonly isServers: boolean;
  readonly expiresAt: Date | null;
  /** The HMAC key; of a secret key its text in both spellings, since a client signs with the one it was given. */
  readonly forms: readonly KeyObject[];
}

export interface SigningKeys {
  readonly environment: Environment;
  /** Live keys by id: the server's own first, the newest of them leading. */
  readonly keys: ReadonlyMap<string, SigningKey>;
  /** Milliseconds since 1970 by the database's clock: what one server makes another one judges, and their own clocks may differ. */
  now(): number;
}

/** The keys that public tokens are signed with, by the environment's public id; undefined when there is none such. */
export interface SigningKeyRing {
  of(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>>;
  /** Looked up anew: for a token that no known key signed, whose key may be newer than what is known. */
  anew(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>>;
  /** Keeps nothing of what is known: a key or an environment has just ended. */
  forget(): void;
  /** The user of a personal access token through which a token was made; undefined when it has ended. */
  delegate(personalAccessTokenId: string, projectId: number): Promise<Delegate | undefined>;
}

export function createSigningKeyRing(sql: Sql, masterKey: MasterKey): SigningKeyRing {
  const recent = new Recent<SigningKeys | undefined>({ maxAgeMs: 1_000, dueMs: 500, maxEntries: 1_000 });

  async function look(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>> {
    const asOf = performance.now();
    const found = await signingKeysOf(sql, environmentPublicId);
    if (!found) return { value: undefined, asOf };
    const keys = new Map(found.keys.map((row) => [row.credentialId, opened(masterKey, row)]));
    const endsInMs = Math.min(...found.keys.map((row) => row.endsInMs ?? Infinity));
    const base = found.now - (asOf + performance.now()) / 2;
    const now = () => base + performance.now();
    return { value: { environment: found.environment, keys, now }, asOf, endsInMs };
  }

  const anew = (environmentPublicId: string) =>
    recent.load(environmentPublicId, () => look(environmentPublicId));

  return {
    async of(environmentPublicId) {
      const known = recent.find(environmentPublicId);
      if (known === undefined) return anew(environmentPublicId);
      if (recent.isDue(environmentPublicId, known)) anew(environmentPublicId).catch(() => {});
      return known;
    },
    anew,
    forget: () => recent.forget(),
    delegate: (personalAccessTokenId, projectId) => delegateOf(sql, personalAccessTokenId, projectId),
  };
}

function opened(
  masterKey: MasterKey,
  { credentialId, scopes, sealed, isServers, expiresAt }: SigningKeyRow,
): SigningKey {
  const place = isServers ? signingKeyPlace(credentialId) : secretKeyPlace(credentialId);
  const text = unseal(masterKey, sealed, place);
  const forms = (isServers ? [text] : markerForms(text)).map((form) => createSecretKey(form, 'utf8'));
  return { credentialId, scopes, isServers, expiresAt, forms };
}

/** Gives an environment the key that its tokens are signed with from now on. There must be no other current one. */
export async function addSigningKey(
  sql: Queryable,
  masterKey: MasterKey,
  environmentId: number,
): Promise<string> {
  const id = newId('signing');
  const sealed = seal(masterKey, randomBytes(32).toString('base64url'), signingKeyPlace(id));
  await sql`insert into signing_keys (id, environment_id, sealed) values (${id}, ${environmentId}, ${sealed})`;
  return id;
}

/** Gives every environment that has none, from a database of before there were such keys, its signing key. */
export async function addMissingSigningKeys(sql: Queryable, masterKey: MasterKey): Promise<void> {
  const without = await sql<{ id: number }[]>`
    select e.id from environments e
     where e.parent_id is null and not exists (
       select from signing_keys s where s.environment_id = e.id and s.expires_at is null)`;
  for (const { id } of without) await addSigningKey(sql, masterKey, id);
}
