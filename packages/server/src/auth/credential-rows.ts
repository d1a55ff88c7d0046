/** Queries for the rows of credentials. All of them exclude revoked, expired and archived ones. */
import type { Role } from '@millrace/contract';
import type { Queryable, Sql } from '../db/connect.ts';
import { liveSession } from './browser/live.ts';
import { confirmedLately, confirmedMsAgo } from './confirm.ts';
import type { AttemptLease, Environment } from './principal.ts';

interface Lifetime {
  /** The remaining time until it expires, in milliseconds; null means never. */
  readonly endsInMs: number | null;
  readonly expiresAt: Date | null;
  /** The last use was recorded five minutes ago or more. */
  readonly useIsStale: boolean;
}

export interface SecretKeyRow extends Lifetime {
  readonly credentialId: string;
  readonly scopes: string[];
  readonly environment: Environment;
}

export interface PersonalAccessTokenRow extends Lifetime {
  readonly credentialId: string;
  readonly userId: string;
  /** How long ago the user's identity provider confirmed them; null if they have none. */
  readonly confirmedMsAgo: number | null;
}

export interface SigningKeyRow {
  /** Id of the secret key or signing key. */
  readonly credentialId: string;
  readonly scopes: string[];
  readonly sealed: Buffer;
  readonly endsInMs: number | null;
  readonly expiresAt: Date | null;
  /** It belongs to the server; no client has it. */
  readonly isServers: boolean;
}

const lifetime = (sql: Sql) => sql`
  (extract(epoch from t.expires_at - now()) * 1000)::float8 as "endsInMs", t.expires_at as "expiresAt",
  coalesce(t.last_used_at < now() - interval '5 minutes', true) as "useIsStale"`;

const live = (sql: Sql) => sql`t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`;

/** The environment `e` of the project `p`, as an `Environment`. */
export const environment = (sql: Queryable) => sql`
  json_build_object('id', e.id, 'publicId', e.public_id, 'kind', e.kind, 'branch', e.branch,
    'projectId', e.project_id, 'projectRef', p.ref) as environment`;

export async function secretKeyByDigest(sql: Sql, digest: Buffer): Promise<SecretKeyRow | undefined> {
  const [row] = await sql<SecretKeyRow[]>`
    select t.id as "credentialId", t.scopes, ${environment(sql)}, ${lifetime(sql)}
    from secret_keys t
    join environments e on e.id = t.environment_id
    join projects p on p.id = e.project_id
    where t.digest = ${digest} and e.archived_at is null and ${live(sql)}`;
  return row;
}

export async function branchOf(
  sql: Sql,
  parent: Environment,
  branch: string,
): Promise<Environment | undefined> {
  const [row] = await sql<{ environment: Environment }[]>`
    select ${environment(sql)}
    from environments e
    join projects p on p.id = e.project_id
    where e.parent_id = ${parent.id} and e.branch = ${branch} and e.archived_at is null`;
  return row?.environment;
}

export async function personalAccessTokenByDigest(
  sql: Sql,
  digest: Buffer,
): Promise<PersonalAccessTokenRow | undefined> {
  const [row] = await sql<PersonalAccessTokenRow[]>`
    select t.id as "credentialId", t.user_id as "userId", ${lifetime(sql)}, ${confirmedMsAgo(sql)} as "confirmedMsAgo"
    from personal_access_tokens t
    where t.digest = ${digest} and ${live(sql)}`;
  return row;
}

/** The keys that may sign for an environment: the server's own, newest first, then the clients'. For a branch, its parent's keys. */
export async function signingKeysOf(
  sql: Sql,
  environmentPublicId: string,
): Promise<{ environment: Environment; keys: SigningKeyRow[]; now: number } | undefined> {
  const rows = await sql<({ environment: Environment; now: number } & SigningKeyRow)[]>`
    select ${environment(sql)}, (extract(epoch from now()) * 1000)::float8 as now, t.id as "credentialId", t.scopes, t.sealed, t.servers as "isServers",
      (extract(epoch from t.expires_at - now()) * 1000)::float8 as "endsInMs", t.expires_at as "expiresAt"
    from environments e
    join projects p on p.id = e.project_id
    cross join lateral (
      select s.id, array['admin'] as scopes, s.sealed, s.expires_at, null::timestamptz as revoked_at, s.created_at, true as servers
        from signing_keys s where s.environment_id = coalesce(e.parent_id, e.id)
      union all
      select k.id, k.scopes, k.sealed, k.expires_at, k.revoked_at, k.created_at, false
        from secret_keys k where k.environment_id = coalesce(e.parent_id, e.id)
    ) t
    where e.public_id = ${environmentPublicId} and e.archived_at is null and ${live(sql)}
    order by t.servers desc, t.expires_at desc nulls first, t.created_at, t.id`;
  return rows[0] && { environment: rows[0].environment, keys: rows, now: rows[0].now };
}

export interface Delegate extends Pick<Lifetime, 'endsInMs' | 'expiresAt'> {
  readonly userId: string;
}

/** The user of a live personal access token who may act in the project. */
export async function delegateOf(
  sql: Sql,
  personalAccessTokenId: string,
  projectId: number,
): Promise<Delegate | undefined> {
  const [row] = await sql<Delegate[]>`
    select t.user_id as "userId", t.expires_at as "expiresAt",
      (extract(epoch from t.expires_at - now()) * 1000)::float8 as "endsInMs"
    from personal_access_tokens t
    join memberships m on m.user_id = t.user_id
    join projects p on p.organization_id = m.organization_id
    where t.id = ${personalAccessTokenId} and p.id = ${projectId} and m.role <> 'viewer' and ${live(sql)}`;
  return row;
}

/**
 * Whether an attempt holds its lease, or is suspended with its code in memory. Checked in one statement, since it may change from one state
 * to the other.
 */
export async function attemptHasLease(sql: Sql, env: number, run: string, fence: number): Promise<boolean> {
  const rows = await sql`
    select from leases where env = ${env} and run_id = ${run} and fence = ${fence}
    union all
    select from suspended where env = ${env} and run_id = ${run} and fence = ${fence} and runner_id is not null`;
  return rows.length > 0;
}

/** The rows that a credential depends on. */
export interface CredentialRows {
  /** Id of a secret key, a personal access token or a browser session. */
  readonly credentialId: string;
  /** Null for a credential of a user, which has no environment. */
  readonly environmentId: number | null;
  /** The key that signed a public token. */
  readonly signerId: string | null;
  /** Set for an attempt's credential, and for a token that ends with an attempt. */
  readonly attempt: AttemptLease | null;
  /** The role with which a browser session acts in the environment. */
  readonly role: Role | null;
}

/**
 * Indexes of the credentials that have ended: revoked, expired, in an archived environment, or signed by an ended key. Also those created
 * by a user who may no longer act in the project or is no longer confirmed by their identity provider, those of attempts without a lease,
 * and those of browsers whose user now has another role.
 */
export async function endedAmong(
  sql: Sql,
  credentials: readonly CredentialRows[],
): Promise<{ readonly now: number; readonly ended: readonly number[] }> {
  const [row] = await sql<{ now: number; ended: number[] }[]>`
    select (extract(epoch from now()) * 1000)::float8 as now,
           coalesce(array_agg((i.ix - 1)::int) filter (where not (
             (i.env is null or (e.id is not null and e.archived_at is null))
             and (i.signer is null
                  or exists (select from signing_keys t where t.id = i.signer and (t.expires_at is null or t.expires_at > now()))
                  or exists (select from secret_keys t where t.id = i.signer and ${live(sql)}))
             and (i.run is null
                  or exists (select from leases l where l.env = i.env and l.run_id = i.run and l.fence = i.fence)
                  or exists (select from suspended l
                              where l.env = i.env and l.run_id = i.run and l.fence = i.fence and l.runner_id is not null))
             and (exists (select from secret_keys t join environments o on o.id = t.environment_id
                           where t.id = i.id and o.archived_at is null and ${live(sql)})
                  or exists (select from personal_access_tokens t
                              where t.id = i.id and ${live(sql)} and ${confirmedLately(sql)}
                                and (i.env is null
                                     or exists (select from memberships m
                                                 where m.user_id = t.user_id and m.organization_id = p.organization_id
                                                   and m.role <> 'viewer')))
                  or exists (select from browser_sessions t
                              where t.id = i.id and ${liveSession(sql)} and ${confirmedLately(sql)}
                                and (i.env is null
                                     or exists (select from memberships m
                                                 where m.user_id = t.user_id and m.organization_id = p.organization_id
                                                   and m.role = i.role))))
           )), '{}') as ended
      from unnest(${credentials.map(({ credentialId }) => credentialId)}::text[],
                  ${credentials.map(({ signerId }) => signerId)}::text[],
                  ${credentials.map(({ environmentId }) => environmentId)}::int[],
                  ${credentials.map(({ attempt }) => attempt?.run ?? null)}::text[],
                  ${credentials.map(({ attempt }) => attempt?.fence ?? null)}::bigint[],
                  ${credentials.map(({ role }) => role)}::text[])
             with ordinality as i (id, signer, env, run, fence, role, ix)
      left join environments e on e.id = i.env
      left join projects p on p.id = e.project_id`;
  return row ?? { now: Date.now(), ended: [] };
}

const tables = {
  secret_keys: (sql: Sql) => sql`secret_keys`,
  personal_access_tokens: (sql: Sql) => sql`personal_access_tokens`,
  browser_sessions: (sql: Sql) => sql`browser_sessions`,
};

/** Records the last use of a credential, at most once every five minutes, regardless of how many processes serve it. */
export async function noteUse(sql: Sql, table: keyof typeof tables, id: string): Promise<void> {
  await sql`
    update ${tables[table](sql)} set last_used_at = now()
    where id = ${id} and coalesce(last_used_at < now() - interval '5 minutes', true)`;
}
