import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Sql } from '../db/connect.ts';
import { markerForms } from './keys.ts';
import { signingKeysOf, type SigningKeyRow } from './look-up.ts';
import type { Environment } from './principal.ts';
import { Recent, type Loaded } from './recent.ts';
import { secretKeyPlace, unseal, type MasterKey } from './seal.ts';
import { isUnrestricted } from './scopes.ts';

export interface SigningKey {
  readonly credentialId: string;
  readonly scopes: readonly string[];
  /** The key's text as HMAC key, in both spellings: a client signs with the one it was given. */
  readonly forms: readonly [svc: KeyObject, tr: KeyObject];
}

export interface SigningKeys {
  readonly environment: Environment;
  /** Live keys by credential id, the oldest first. */
  readonly keys: ReadonlyMap<string, SigningKey>;
  /** The oldest live key without restrictions: signs for restricted keys. */
  readonly root: SigningKey | undefined;
}

/** The keys that public tokens are signed with, by the environment's public id; undefined when there is none such. */
export interface SigningKeyRing {
  of(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>>;
}

export function createSigningKeyRing(sql: Sql, masterKey: MasterKey): SigningKeyRing {
  const recent = new Recent<SigningKeys | undefined>({ maxAgeMs: 1_000, dueMs: 500, maxEntries: 1_000 });

  async function look(environmentPublicId: string): Promise<Loaded<SigningKeys | undefined>> {
    const asOf = performance.now();
    const found = await signingKeysOf(sql, environmentPublicId);
    if (!found) return { value: undefined, asOf };
    const keys = new Map(found.keys.map((row) => [row.credentialId, opened(masterKey, row)]));
    const root = [...keys.values()].find((key) => isUnrestricted(key.scopes));
    const endsInMs = Math.min(...found.keys.map((row) => row.endsInMs ?? Infinity));
    return { value: { environment: found.environment, keys, root }, asOf, endsInMs };
  }

  return {
    async of(environmentPublicId) {
      const known = recent.find(environmentPublicId);
      if (known === undefined) return recent.load(environmentPublicId, () => look(environmentPublicId));
      if (recent.isDue(environmentPublicId, known)) {
        recent.load(environmentPublicId, () => look(environmentPublicId)).catch(() => {});
      }
      return known;
    },
  };
}

function opened(masterKey: MasterKey, row: SigningKeyRow): SigningKey {
  const [svc, tr] = markerForms(unseal(masterKey, row.sealed, secretKeyPlace(row.credentialId)));
  const forms = [createSecretKey(svc, 'utf8'), createSecretKey(tr, 'utf8')] as const;
  return { credentialId: row.credentialId, scopes: row.scopes, forms };
}
