import { environmentKinds, type EnvironmentKind } from '@millrace/contract';
import { credentialDigest, lastFour, newPersonalAccessToken } from '../auth/keys.ts';
import { checkMasterKey } from '../auth/master-key.ts';
import { personalAccessTokenContext, seal, secretKeyContext, unseal, type MasterKey } from '../auth/seal.ts';
import { addMissingSigningKeys } from '../auth/signing-keys.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { addMissingDevEnvironments } from './environments.ts';
import type { BootstrapSettings } from './bootstrap-settings.ts';
import { insertProject } from './projects.ts';

/** The credentials of the first start in plain text. Null for one that has been revoked since. */
export interface Credentials {
  readonly projectRef: string;
  readonly personalAccessToken: string | null;
  readonly environments: Readonly<Record<EnvironmentKind, { readonly secretKey: string | null }>>;
}

// The key of the advisory lock that every Millrace process takes while it creates or finds the first project.
const tenancyLock = 7_144_002;

export interface TenancyOptions {
  readonly masterKey: MasterKey;
  /** Return the credentials again on later starts: for development only. */
  readonly reveal: boolean;
  /** Values for the first project, instead of generated ones. */
  readonly settings?: BootstrapSettings | undefined;
  /**
   * Delivers the new credentials before the transaction commits. If it rejects, or this process dies, nothing is created and the next start
   * tries again.
   */
  readonly deliver?: ((credentials: Credentials) => Promise<void>) | undefined;
}

/**
 * Creates the first organization, user and project with its four environments, a secret key for each and a personal access token, unless a
 * project exists. Returns the credentials if it created them or may reveal them, otherwise null. Throws for a master key that does not
 * belong to this database. If several processes start at the same time, one of them creates everything.
 */
export async function ensureTenancy(sql: Sql, options: TenancyOptions): Promise<Credentials | null> {
  const { masterKey, reveal } = options;
  return sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(${tenancyLock})`;
    await checkMasterKey(transaction, masterKey);
    await addMissingSigningKeys(transaction, masterKey);
    await addMissingDevEnvironments(transaction, masterKey);
    const [first] = await transaction<{ id: number; ref: string }[]>`
      select id, ref from projects where deleted_at is null order by id limit 1`;
    if (!first) {
      const created = await createTenancy(transaction, options);
      await options.deliver?.(created);
      return created;
    }
    return reveal ? revealTenancy(transaction, masterKey, first) : null;
  });
}

/** Creates an organization, its owner, and a project. */
export async function createTenancy(
  sql: Transaction,
  { masterKey, reveal, settings = { secretKeys: {} } }: TenancyOptions,
): Promise<Credentials> {
  const organization = newId('org');
  const user = newId('user');
  await sql`insert into organizations (id, name) values (${organization}, 'My organization')`;
  await sql`insert into users (id, name) values (${user}, 'Owner')`;
  await sql`insert into memberships (organization_id, user_id, role) values (${organization}, ${user}, 'owner')`;
  const { ref, secretKeys } = await insertProject(
    sql,
    masterKey,
    organization,
    user,
    settings.projectName ?? 'My project',
    settings,
  );
  const secretKeyOf = (kind: EnvironmentKind) => ({ secretKey: secretKeys[kind] });
  return {
    projectRef: ref,
    personalAccessToken: await createPersonalAccessToken(
      sql,
      reveal ? masterKey : undefined,
      user,
      settings.personalAccessToken,
    ),
    environments: {
      dev: secretKeyOf('dev'),
      stg: secretKeyOf('stg'),
      prod: secretKeyOf('prod'),
      preview: secretKeyOf('preview'),
    },
  };
}

/** The token is stored sealed only if it must be displayed again (`masterKey` is given). Otherwise only its digest is stored. */
async function createPersonalAccessToken(
  sql: Transaction,
  masterKey: MasterKey | undefined,
  user: string,
  token = newPersonalAccessToken(),
): Promise<string> {
  const id = newId('pat');
  const sealed = masterKey ? seal(masterKey, token, personalAccessTokenContext(id)) : null;
  await sql`
    insert into personal_access_tokens (id, user_id, digest, sealed, last_four, name)
    values (${id}, ${user}, ${credentialDigest(token)}, ${sealed}, ${lastFour(token)}, 'default')`;
  return token;
}

async function revealTenancy(
  sql: Transaction,
  masterKey: MasterKey,
  project: { id: number; ref: string },
): Promise<Credentials> {
  const keys = await sql<{ kind: EnvironmentKind; id: string; sealed: Buffer }[]>`
    select distinct on (e.kind) e.kind, k.id, k.sealed
    from environments e
    join secret_keys k on k.environment_id = e.id
    where e.project_id = ${project.id} and e.parent_id is null and e.archived_at is null and 'admin' = any(k.scopes)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
    order by e.kind, e.id, k.expires_at nulls first, k.created_at, k.id`;
  const [token] = await sql<{ id: string; sealed: Buffer }[]>`
    select t.id, t.sealed
    from personal_access_tokens t
    where t.sealed is not null and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
    order by t.created_at limit 1`;
  const secretKeyOf = (kind: EnvironmentKind) => {
    const key = keys.find((each) => each.kind === kind);
    return { secretKey: key ? unseal(masterKey, key.sealed, secretKeyContext(key.id)) : null };
  };
  return {
    projectRef: project.ref,
    personalAccessToken: token ? unseal(masterKey, token.sealed, personalAccessTokenContext(token.id)) : null,
    environments: Object.fromEntries(
      environmentKinds.map((kind) => [kind, secretKeyOf(kind)]),
    ) as Credentials['environments'],
  };
}
