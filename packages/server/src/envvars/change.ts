/** Changes variables: one transaction and one revision for each change; no revision if nothing changes. */
import { recordAct, type Actor } from '../audit/record.ts';
import { userBehind, type Environment } from '../auth/principal.ts';
import { isSealedWith, type MasterKey } from '../auth/seal.ts';
import type { Sql, Transaction } from '../db/connect.ts';
import { mapInTurns } from '../json/turns.ts';
import { openValue, sealValue } from './sealed-value.ts';
import { invalid, maxTogether, maxVariables, refuseRestricted } from './rules.ts';

export interface ChangeDependencies {
  readonly sql: Sql;
  readonly masterKey: MasterKey;
  /** Milliseconds since 1970 by the database's clock. */
  readonly now: () => number;
  /** Called after each revision, before the response is sent. */
  readonly changed: (root: number) => Promise<void>;
}

/** The actor and the change, for the history and the audit log. */
export interface Change {
  readonly environment: Environment;
  readonly by: Actor;
  /** May change restricted names. */
  readonly isAdmin: boolean;
  readonly act: 'set' | 'import' | 'delete' | 'rollback';
  readonly source?: object | undefined;
  /** For a rollback: the restored revision. */
  readonly restored?: number | undefined;
  /** The names to read and change. Default: all. */
  readonly names?: readonly string[];
}

/** A stored variable of the environment itself. */
export interface OwnVariable {
  readonly sealed: Buffer;
  readonly isSecret: boolean;
}

/** The desired state of a variable. */
export type DesiredVariable =
  | { readonly name: string; readonly removed: true }
  | { readonly name: string; readonly isSecret: boolean; readonly value: string }
  /** Sealed earlier for this environment and name. */
  | { readonly name: string; readonly isSecret: boolean; readonly sealed: Buffer };

export interface NamedChange {
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  readonly isSecret: boolean;
}

export interface Changed {
  /** The current revision: a new one, or the existing one if nothing changed. */
  readonly revision: number;
  readonly changes: readonly NamedChange[];
}

/**
 * Changes an environment's own variables to the state that `desired` returns for the current ones. Changes to an environment and its
 * branches are serialized. Setting a variable to its current value is not a change.
 */
export async function changeVariables(
  { sql, masterKey, now, changed }: ChangeDependencies,
  change: Change,
  desired: (
    own: ReadonlyMap<string, OwnVariable>,
    state: {
      readonly tx: Transaction;
      readonly root: number;
      readonly revision: number;
      readonly oldest: number;
    },
  ) => readonly DesiredVariable[] | Promise<readonly DesiredVariable[]>,
): Promise<Changed> {
  const env = change.environment.id;
  if (!change.isAdmin && change.names) refuseRestricted(change.names);
  const { root, ...result } = await sql.begin(async (tx) => {
    const state = await lockRevision(tx, env);
    const own = await readOwn(tx, env, change.names);
    const variables = await desired(own, { tx, ...state });
    const read = await mapInTurns(variables, (variable) =>
      rowOf(masterKey, env, variable, own.get(variable.name)),
    );
    const rows = read.filter((row) => row !== undefined);
    // A rollback has no `names`, so its changes are checked here.
    if (!change.isAdmin) refuseRestricted(rows.map(({ name }) => name));
    if (rows.length === 0) return { root: state.root, revision: state.revision, changes: [] };
    const revision = state.revision + 1;
    await write(tx, change, state.root, revision, new Date(now()), rows);
    await refuseTooMuch(tx, env);
    await recordChange(tx, change, revision, rows);
    if (revision % pruneEvery === 0) await prune(tx, state.root, revision - maxRevisions);
    return {
      root: state.root,
      revision,
      changes: rows.map(({ name, change: what, isSecret }) => ({ name, change: what, isSecret })),
    };
  });
  if (result.changes.length > 0) await changed(root);
  return result;
}

/** Locks the revision counter of the environment and its branches; creates it if necessary. */
async function lockRevision(tx: Transaction, env: number) {
  const [row] = await tx<{ root: number; revision: number; oldest: number }[]>`
    insert into variable_sets as s (root, revision)
    select coalesce(e.parent_id, e.id), 0 from environments e where e.id = ${env}
    on conflict (root) do update set revision = s.revision
    returning root, revision, oldest`;
  if (!row) throw new Error(`environment ${env} does not exist`);
  return row;
}

async function readOwn(tx: Transaction, env: number, names: readonly string[] | undefined) {
  const named = names === undefined ? tx`` : tx`and name = any(${[...names]}::text[])`;
  const rows = await tx<({ name: string } & OwnVariable)[]>`
    select name, sealed, is_secret as "isSecret" from variables where env = ${env} ${named}`;
  return new Map(rows.map((row) => [row.name, row]));
}

type ChangeRow = NamedChange & { readonly sealed: Buffer | null };

function rowOf(
  masterKey: MasterKey,
  env: number,
  desired: DesiredVariable,
  own: OwnVariable | undefined,
): ChangeRow | undefined {
  const { name } = desired;
  if ('removed' in desired) return own && { name, change: 'removed', isSecret: own.isSecret, sealed: null };
  const value = 'value' in desired ? desired.value : openValue(masterKey, env, name, desired.sealed);
  const change = own ? 'changed' : 'added';
  if (own?.isSecret === desired.isSecret && openValue(masterKey, env, name, own.sealed) === value)
    return undefined;
  // Do not write a value sealed with the previous key, because the rotation may already have passed this row.
  const isCurrent = 'sealed' in desired && isSealedWith(masterKey, desired.sealed);
  const sealed = isCurrent ? desired.sealed : sealValue(masterKey, env, name, value);
  return { name, change, isSecret: desired.isSecret, sealed };
}

async function write(
  tx: Transaction,
  { environment, by: { principal }, act, source, restored }: Change,
  root: number,
  revision: number,
  at: Date,
  rows: readonly ChangeRow[],
): Promise<void> {
  const env = environment.id;
  const user = userBehind(principal);
  const names = rows.map((row) => row.name);
  await tx`
    with counted as (
      update variable_sets set revision = ${revision} where root = ${root}
    ), noted as (
      insert into variable_revisions (root, revision, env, at, act, user_id, credential_id, source, restored)
      values (${root}, ${revision}, ${env}, ${at}, ${act}, ${user}, ${principal.credentialId},
              ${source === undefined ? null : JSON.stringify(source)}::jsonb, ${restored ?? null})
    ), changed as (
      insert into variable_changes (env, name, revision, change, is_secret, sealed)
      select ${env}, c.name, ${revision}, c.change, c.is_secret, c.sealed
        from unnest(${names}::text[], ${rows.map((row) => row.change)}::text[],
                    ${rows.map((row) => String(row.isSecret))}::text[]::boolean[], ${rows.map((row) => row.sealed)}::bytea[])
               as c (name, change, is_secret, sealed)
      returning name, is_secret, sealed
    ), gone as (
      delete from variables v using changed c where v.env = ${env} and v.name = c.name and c.sealed is null
    )
    insert into variables (env, name, sealed, is_secret, revision, updated_at)
    select ${env}, c.name, c.sealed, c.is_secret, ${revision}, ${at} from changed c where c.sealed is not null
    on conflict (env, name) do update set
      sealed = excluded.sealed, is_secret = excluded.is_secret, revision = excluded.revision, updated_at = excluded.updated_at`;
}

/** The audit log contains only the first names, and never a value. The history contains the rest. */
const maxNamed = 100;

async function recordChange(
  tx: Transaction,
  { environment, by, act, restored }: Change,
  revision: number,
  rows: readonly ChangeRow[],
): Promise<void> {
  const named = (what: NamedChange['change']) => {
    const names = rows.filter((row) => row.change === what).map((row) => row.name);
    return names.length === 0 ? undefined : names.slice(0, maxNamed);
  };
  await recordAct(tx, by, {
    act: 'variables.changed',
    target: environment.publicId,
    in: { projectRef: environment.projectRef, environment: environment.kind },
    new: {
      by: act,
      revision,
      restored,
      branch: environment.branch ?? undefined,
      count: rows.length,
      added: named('added'),
      changed: named('changed'),
      removed: named('removed'),
    },
  });
}

async function refuseTooMuch(tx: Transaction, env: number): Promise<void> {
  const [row] = await tx<{ count: number; bytes: number }[]>`
    select count(*)::int as count, coalesce(sum(length(name) + octet_length(sealed)), 0)::int as bytes
      from variables where env = ${env}`;
  const { count = 0, bytes = 0 } = row ?? {};
  if (count > maxVariables) {
    throw invalid(
      `The environment would have ${count} variables; the limit is ${maxVariables}. Delete some first.`,
    );
  }
  if (bytes > maxTogether) {
    throw invalid(
      `The environment's variables would have ${bytes} bytes in total; the limit is ${maxTogether}, because no process can start with more. Delete some, or store large values elsewhere.`,
    );
  }
}

/** Stored revisions of an environment and its branches. */
const maxRevisions = 1_000;
const pruneEvery = 100;

/** Deletes revisions before `oldest`, but keeps each variable's last change up to then: later states are computed from it. */
async function prune(tx: Transaction, root: number, oldest: number): Promise<void> {
  if (oldest <= 0) return;
  await tx`update variable_sets set oldest = ${oldest} where root = ${root}`;
  await tx`delete from variable_revisions where root = ${root} and revision < ${oldest}`;
  await tx`
    delete from variable_changes c using environments e
     where e.id = c.env and coalesce(e.parent_id, e.id) = ${root} and c.revision <= ${oldest}
       and (c.sealed is null and c.revision < ${oldest} or exists (
         select from variable_changes later
          where later.env = c.env and later.name = c.name and later.revision > c.revision and later.revision <= ${oldest}))`;
}
