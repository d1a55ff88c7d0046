import { redacted, type EnvironmentVariable } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Queryable } from '../db/connect.ts';
import { openValue } from './sealed-value.ts';

/** One stored variable of an environment or of its parent. */
export interface StoredVariable {
  readonly env: number;
  readonly name: string;
  readonly sealed: Buffer;
  readonly isSecret: boolean;
}

/** The effective variables of an environment: its own override its parent's. */
export interface InForce {
  /** The environment that has the revision counter: the parent of a branch, otherwise the environment itself. */
  readonly root: number;
  /** 0 before the first revision. */
  readonly revision: number;
  /** By name. */
  readonly variables: ReadonlyMap<string, MergedVariable>;
  /** Earlier secret values in the history: attempts may still run with them. */
  readonly past: readonly StoredVariable[];
}

export interface MergedVariable extends StoredVariable {
  /** The parent's value, if the environment's own overrides it. */
  readonly hidden?: StoredVariable;
  /** True if either value is secret. */
  readonly isSecret: boolean;
}

/** Maximum number of earlier secrets, newest first, that are redacted. */
const maxPast = 2_000;

type Row = { root: number; revision: number; past: boolean } & {
  [K in keyof StoredVariable]: StoredVariable[K] | null;
};

/** Reads all of an environment's variables, or one by name, in one query. */
export async function readVariables(
  sql: Queryable,
  env: number,
  { name, withPast = false }: { readonly name?: string; readonly withPast?: boolean } = {},
): Promise<InForce> {
  const named = name === undefined ? sql`` : sql`and v.name = ${name}`;
  const past = sql`
    union all
    (select c.env, c.name, c.sealed, c.is_secret, true
       from variable_changes c
      where c.env in (e.id, e.parent_id) and c.is_secret and c.sealed is not null
      order by c.revision desc limit ${maxPast})`;
  const rows = await sql<Row[]>`
    select coalesce(e.parent_id, e.id) as root, coalesce(s.revision, 0) as revision,
           x.env, x.name, x.sealed, x.is_secret as "isSecret", x.past
      from environments e
      left join variable_sets s on s.root = coalesce(e.parent_id, e.id)
      left join lateral (
        select v.env, v.name, v.sealed, v.is_secret, false as past
          from variables v where v.env in (e.id, e.parent_id) ${named}
        ${withPast ? past : sql``}
      ) x on true
     where e.id = ${env}`;
  const stored = rows.filter((row): row is Row & StoredVariable => row.name !== null);
  return {
    root: rows[0]?.root ?? env,
    revision: rows[0]?.revision ?? 0,
    variables: merge(
      env,
      stored.filter((row) => !row.past),
    ),
    past: stored.filter((row) => row.past),
  };
}

/** The environment's own value takes precedence. The variable is secret if either value is. */
function merge(env: number, stored: readonly StoredVariable[]): Map<string, MergedVariable> {
  const merged = new Map<string, MergedVariable>();
  for (const variable of stored) {
    const other = merged.get(variable.name);
    if (!other) merged.set(variable.name, variable);
    else {
      const [own, hidden] = variable.env === env ? [variable, other] : [other, variable];
      merged.set(variable.name, { ...own, hidden, isSecret: own.isSecret || hidden.isSecret });
    }
  }
  return merged;
}

/** A variable of an environment in the API's format. A secret is not decrypted. */
export const variableResponse = (
  masterKey: MasterKey,
  { id, branch }: Pick<Environment, 'id' | 'branch'>,
  variable: MergedVariable,
): EnvironmentVariable => ({
  name: variable.name,
  value: variable.isSecret ? redacted : opened(masterKey, variable),
  isSecret: variable.isSecret,
  ...(branch !== null && { isInherited: variable.env !== id }),
});

export const opened = (masterKey: MasterKey, { env, name, sealed }: StoredVariable): string =>
  openValue(masterKey, env, name, sealed);
