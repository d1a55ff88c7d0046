import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Queryable, Transaction } from './connect.ts';
import { DatabaseRefused } from './errors.ts';
import { readVersion, sqlFolder } from './sql-folder.ts';

/** The schema of the views for reports (docs/sql-views.md). */
export const viewsSchema = 'millrace_v1';

/** The SQL that installs or updates the views. The comment of the schema records the release and the text. */
export async function sqlViewsText(folder: URL = sqlFolder): Promise<string> {
  const text = await readFile(new URL('views.sql', folder), 'utf8');
  const checksum = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${text}\ncomment on schema ${viewsSchema} is 'Millrace ${readVersion(folder)} views, ${checksum}';\n`;
}

/** Whether a database has the views. */
export async function hasSqlViews(sql: Queryable): Promise<boolean> {
  const found = await sql`select from pg_namespace where nspname = ${viewsSchema}`;
  return found.length > 0;
}

/** Views of another release, or with another text, that this role may update. */
export interface OutdatedViews {
  /** The release that installed them; undefined if it is unknown. */
  readonly release: string | undefined;
  /** The SQL that updates them. */
  readonly text: string;
}

/**
 * The installed views, if they differ from those of this release. Undefined too if another role owns them and has to update them. A schema
 * file may have dropped a view to change a column that it reads; then its view is missing.
 */
export async function outdatedSqlViews(
  sql: Queryable,
  folder: URL = sqlFolder,
): Promise<OutdatedViews | undefined> {
  const [row] = await sql<{ comment: string | null; views: string[] }[]>`
    select obj_description(n.oid, 'pg_namespace') as comment,
           array(select c.relname::text from pg_class c where c.relnamespace = n.oid and c.relkind = 'v') as views
      from pg_namespace n where n.nspname = ${viewsSchema} and pg_has_role(n.nspowner, 'usage')`;
  if (!row) return undefined;
  const text = await sqlViewsText(folder);
  const names = [...text.matchAll(/^create or replace view \w+\.(\w+)/gm)].map(([, name = '']) => name);
  const comment = row.comment ?? '';
  const isCurrent = names.every((name) => row.views.includes(name)) && text.includes(`is '${comment}';`);
  return isCurrent ? undefined : { release: /^Millrace (\S+) views/.exec(comment)?.[1], text };
}

/** The environments that a role may read, by public id; `all` includes those that are created later. */
export type ReadableEnvironments = 'all' | readonly string[];

/** Installs the views, within a transaction. */
export const installSqlViews = async (tx: Transaction): Promise<void> => {
  await tx.unsafe(await sqlViewsText());
};

/** Grants a role the views with the rows of these environments, and no others. */
export async function grantSqlViews(
  tx: Transaction,
  role: string,
  environments: ReadableEnvironments,
): Promise<void> {
  await refuseUnknownRole(tx, role);
  const envs = environments === 'all' ? [0] : await idsOf(tx, environments);
  const name = quoted(role);
  await tx.unsafe(`
    grant usage on schema ${viewsSchema} to ${name};
    grant select on all tables in schema ${viewsSchema} to ${name};
    alter default privileges in schema ${viewsSchema} grant select on tables to ${name}`);
  await tx`delete from sql_readers where role = ${role}`;
  await tx`insert into sql_readers (role, env) select ${role}, unnest(${envs}::int[])`;
}

/** Reverses `grantSqlViews`. */
export async function revokeSqlViews(tx: Transaction, role: string): Promise<void> {
  const { count } = await tx`delete from sql_readers where role = ${role}`;
  // A dropped role has no privileges left.
  if (count > 0 && !(await isRole(tx, role))) return;
  await refuseUnknownRole(tx, role);
  const name = quoted(role);
  await tx.unsafe(`
    alter default privileges in schema ${viewsSchema} revoke select on tables from ${name};
    revoke select on all tables in schema ${viewsSchema} from ${name};
    revoke usage on schema ${viewsSchema} from ${name}`);
}

const quoted = (role: string): string => `"${role.replaceAll('"', '""')}"`;

async function isRole(sql: Queryable, role: string): Promise<boolean> {
  const found = await sql`select from pg_roles where rolname = ${role}`;
  return found.length > 0;
}

async function refuseUnknownRole(sql: Queryable, role: string): Promise<void> {
  if (await isRole(sql, role)) return;
  throw new DatabaseRefused(
    `The database has no role ${role}. Create it first: create role ${quoted(role)} login password '…'`,
  );
}

async function idsOf(sql: Queryable, publicIds: readonly string[]): Promise<number[]> {
  const rows = await sql<{ id: number; publicId: string }[]>`
    select id, public_id as "publicId" from environments where public_id = any(${publicIds}::text[])`;
  const unknown = publicIds.filter((id) => !rows.some(({ publicId }) => publicId === id));
  if (unknown.length === 0) return rows.map(({ id }) => id);
  throw new DatabaseRefused(
    `No environment has the id ${unknown[0]}. \`millrace whoami\` shows the id of a key's environment.`,
  );
}
