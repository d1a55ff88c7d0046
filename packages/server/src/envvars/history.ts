import { redacted, type VariableDifference, type VariableRevision } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { onwardPage } from '../page.ts';
import { notFound } from '../problem.ts';
import type { NamedChange } from './change.ts';
import { openValue } from './sealed-value.ts';

interface RevisionRow {
  readonly revision: number;
  readonly at: Date;
  readonly act: VariableRevision['act'];
  readonly userId: string | null;
  readonly credentialId: string;
  readonly source: Record<string, unknown> | null;
  readonly restored: number | null;
  readonly changes: NamedChange[];
}

/** The revisions of an environment's own variables before `after`, newest first. */
export async function listRevisions(
  sql: Sql,
  environment: Environment,
  { size, after }: { readonly size: number; readonly after: number | undefined },
): Promise<{ data: VariableRevision[]; pagination: { next?: string } }> {
  const rows = await sql<RevisionRow[]>`
    select r.revision, r.at, r.act, r.user_id as "userId", r.credential_id as "credentialId", r.source, r.restored,
           (select json_agg(json_build_object('name', c.name, 'change', c.change, 'isSecret', c.is_secret) order by c.name)
              from variable_changes c where c.env = r.env and c.revision = r.revision) as changes
      from variable_revisions r
     where r.env = ${environment.id} and r.revision < ${after ?? 2_147_483_647}
     order by r.revision desc limit ${size + 1}`;
  const { page, pagination } = onwardPage(rows, size, ({ revision }) => String(revision));
  const data = page.map((row) => ({
    revision: row.revision,
    at: row.at.toISOString(),
    act: row.act,
    userId: row.userId ?? undefined,
    credentialId: row.credentialId,
    source: row.source ?? undefined,
    restored: row.restored ?? undefined,
    changes: row.changes ?? [],
  }));
  return { data, pagination };
}

interface State {
  readonly sealed: Buffer;
  readonly isSecret: boolean;
}

/** An environment's own variables at a revision, sealed. 404 if the revision does not exist or was pruned. */
export async function stateAt(
  sql: Queryable,
  env: number,
  revision: number,
  known: { readonly revision: number; readonly oldest: number },
): Promise<ReadonlyMap<string, State>> {
  if (revision > known.revision || revision < known.oldest) {
    throw notFound(
      `Revision not found: the history of this environment has revisions ${known.oldest} to ${known.revision}`,
    );
  }
  const rows = await sql<({ name: string; sealed: Buffer | null } & Omit<State, 'sealed'>)[]>`
    select distinct on (name) name, sealed, is_secret as "isSecret" from variable_changes
     where env = ${env} and revision <= ${revision} order by name, revision desc`;
  return new Map(
    rows.flatMap(({ name, sealed, isSecret }) => (sealed ? [[name, { sealed, isSecret }] as const] : [])),
  );
}

/** The differences of an environment's own variables between two revisions. Default of `to`: the current one. */
export async function compareRevisions(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  { from, to }: { readonly from: number; readonly to: number | undefined },
): Promise<{ from: number; to: number; changes: VariableDifference[] }> {
  const env = environment.id;
  const [row] = await sql<{ revision: number; oldest: number }[]>`
    select s.revision, s.oldest from environments e join variable_sets s on s.root = coalesce(e.parent_id, e.id)
     where e.id = ${env}`;
  const known = row ?? { revision: 0, oldest: 0 };
  const until = to ?? known.revision;
  const before = await stateAt(sql, env, from, known);
  const after = await stateAt(sql, env, until, known);
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const changes = names.flatMap((name): VariableDifference[] => {
    const [was, is] = [before.get(name), after.get(name)];
    const open = (state: State | undefined) => state && openValue(masterKey, env, name, state.sealed);
    const [old, now] = [open(was), open(is)];
    if (old === now && was?.isSecret === is?.isSecret) return [];
    const isSecret = (was?.isSecret ?? false) || (is?.isSecret ?? false);
    const show = (value: string | undefined) => (value !== undefined && isSecret ? redacted : value);
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    return [{ name, change, isSecret, from: show(old), to: show(now) }];
  });
  return { from, to: until, changes };
}
