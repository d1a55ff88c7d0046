import type { WebhookVerification } from '@millrace/contract/runner';
import { LRUCache } from 'lru-cache';
import type { MasterKey } from '../../auth/seal.ts';
import type { Sql } from '../../db/connect.ts';
import { opened, readVariables, type InForce } from '../../envvars/read.ts';

/** The environment variables in which the secret of a webhook is searched. */
export const secretNames = (verification: WebhookVerification): readonly string[] =>
  verification.scheme === 'none' ? [] : verification.secrets;

/** Returns the values of those of the environment variables that are set and not empty. */
export type ReadSecrets = (env: number, names: readonly string[]) => Promise<string[]>;

/** A secret that was replaced is accepted for this long. */
const freshMs = 1_000;
const maxEnvironments = 1_000;

export function createReadSecrets(sql: Sql, masterKey: MasterKey): ReadSecrets {
  const known = new LRUCache<number, Promise<InForce>>({ max: maxEnvironments, ttl: freshMs });

  function read(env: number): Promise<InForce> {
    const reading = readVariables(sql, env);
    known.set(env, reading);
    reading.catch(() => known.delete(env));
    return reading;
  }

  return async (env, names) => {
    const { variables } = await (known.get(env) ?? read(env));
    return names.flatMap((name) => {
      const variable = variables.get(name);
      const value = variable && opened(masterKey, variable);
      return value ? [value] : [];
    });
  };
}
