import type { EnvironmentVariable } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import type { MasterKey } from '../auth/seal.ts';
import type { Sql } from '../db/connect.ts';
import { readVariables, variableResponse } from './read.ts';

/** One effective variable; undefined if the environment has none with this name. */
export async function retrieveVariable(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  name: string,
): Promise<EnvironmentVariable | undefined> {
  const { variables } = await readVariables(sql, environment.id, { name });
  const found = variables.get(name);
  return found && variableResponse(masterKey, environment, found);
}
