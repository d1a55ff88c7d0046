import type { WebhookVerification } from '@millrace/contract/runner';
import type { MasterKey } from '../../auth/seal.ts';
import type { Sql } from '../../db/connect.ts';
import { opened, readVariables } from '../../envvars/read.ts';
import { recentReads } from './recent-reads.ts';

/** The environment variables in which the secret of a webhook is searched. */
export const secretNames = (verification: WebhookVerification): readonly string[] =>
  verification.scheme === 'none' ? [] : verification.secrets;

/** Returns the values of those of the environment variables that are set and not empty. */
export type ReadSecrets = (env: number, names: readonly string[]) => Promise<string[]>;

const maxEnvironments = 1_000;

export function createReadSecrets(sql: Sql, masterKey: MasterKey): ReadSecrets {
  const read = recentReads((env: number) => readVariables(sql, env), { max: maxEnvironments });
  return async (env, names) => {
    const { variables } = await read(env);
    return names.flatMap((name) => {
      const variable = variables.get(name);
      const value = variable && opened(masterKey, variable);
      return value ? [value] : [];
    });
  };
}
