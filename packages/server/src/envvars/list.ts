import type { EnvironmentVariable } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import { readVariables, variableResponse } from './read.ts';

/** All effective variables, sorted by name. */
export async function listVariables(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
): Promise<EnvironmentVariable[]> {
  const { variables } = await readVariables(sql, environment.id);
  return [...variables.values()]
    .map((variable) => variableResponse(masterKey, environment, variable))
    .toSorted((first, second) => (first.name < second.name ? -1 : 1));
}
