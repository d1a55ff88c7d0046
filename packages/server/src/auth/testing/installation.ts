import { onTestFinished } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { connect, type Sql } from '../../db/connect.ts';
import { newId } from '../../db/ids.ts';
import { ensureTenancy, type Credentials } from '../../tenancy/bootstrap.ts';
import { createAuthenticate, type Authenticate } from '../authenticate.ts';
import { credentialDigest, lastFour, newSecretKey } from '../keys.ts';
import { createMint, type MintPublicToken } from '../mint.ts';
import { masterKeyOf, seal, secretKeyContext } from '../seal.ts';
import { createSigningKeyRing, type SigningKeyRing } from '../signing-keys.ts';

export const masterKey = masterKeyOf(Buffer.alloc(32, 7));

export interface Installation {
  readonly sql: Sql;
  readonly credentials: Credentials;
  readonly authenticate: Authenticate;
  readonly ring: SigningKeyRing;
  readonly mint: MintPublicToken;
  /** The plain secret key of the first start. */
  key(kind: 'dev' | 'stg' | 'prod' | 'preview'): string;
  publicIdOf(kind: string): Promise<string>;
  /** Another key of an environment, with its own scopes. */
  addKey(kind: 'dev' | 'stg' | 'prod' | 'preview', scopes: string[]): Promise<{ id: string; text: string }>;
  addBranch(kind: 'dev' | 'preview', branch: string): Promise<string>;
}

/** A separate database that has completed its first start. */
export async function createInstallation(): Promise<Installation> {
  const { connection, drop } = await testDatabase();
  const sql = connect(connection, { name: 'test', max: 4 });
  onTestFinished(async () => {
    await sql.end();
    await drop();
  });
  const credentials = await ensureTenancy(sql, { masterKey, reveal: false });
  if (!credentials) throw new Error('The first start returned no credentials.');
  const ring = createSigningKeyRing(sql, masterKey);
  return {
    sql,
    credentials,
    ring,
    authenticate: createAuthenticate({ sql, ring }),
    mint: createMint(ring),
    key: (kind) => credentials.environments[kind].secretKey ?? '',
    async publicIdOf(kind) {
      const [row] = await sql<{ publicId: string }[]>`
        select public_id as "publicId" from environments where kind = ${kind} and branch is null`;
      return row?.publicId ?? '';
    },
    async addKey(kind, scopes) {
      const text = newSecretKey(kind);
      const id = newId('key');
      await sql`
        insert into secret_keys (id, environment_id, digest, sealed, last_four, name, scopes)
        select ${id}, e.id, ${credentialDigest(text)}, ${seal(masterKey, text, secretKeyContext(id))}, ${lastFour(text)},
          'another', ${scopes}
        from environments e where e.kind = ${kind} and e.branch is null`;
      return { id, text };
    },
    async addBranch(kind, branch) {
      const publicId = newId('env');
      await sql`
        insert into environments (public_id, project_id, kind, branch, parent_id)
        select ${publicId}, e.project_id, e.kind, ${branch}, e.id
        from environments e where e.kind = ${kind} and e.branch is null`;
      return publicId;
    },
  };
}
