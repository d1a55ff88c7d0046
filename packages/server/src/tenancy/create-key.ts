import {
  maxKeyTasks,
  scopesOfPreset,
  type Body,
  type createKey as declaration,
  type SecretKey,
} from '@millrace/contract';
import { credentialDigest, lastFour, newSecretKey } from '../auth/keys.ts';
import { userBehind, type Environment } from '../auth/principal.ts';
import { seal, secretKeyContext, type MasterKey } from '../auth/seal.ts';
import { recordAct, type Actor } from '../audit/record.ts';
import type { Queryable, Sql } from '../db/connect.ts';
import { newId } from '../db/ids.ts';
import { unprocessable } from '../problem.ts';
import { readExpiry } from './expiry.ts';
import { keyColumns, keyOf, type KeyRow } from './key-row.ts';

/** The properties of a key, without its text. */
export interface KeyProperties {
  readonly name: string;
  readonly preset: string | null;
  readonly tasks: readonly string[] | null;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  readonly createdBy: string | null;
}

/** Inserts a key. Its text is stored sealed, because the server must verify tokens that a client signs with it. */
export async function insertKey(
  sql: Queryable,
  masterKey: MasterKey,
  environment: Pick<Environment, 'id' | 'kind'>,
  properties: KeyProperties,
  text = newSecretKey(environment.kind),
): Promise<{ row: KeyRow; text: string }> {
  const id = newId('key');
  const [row] = await sql<KeyRow[]>`
    insert into secret_keys (id, environment_id, digest, sealed, last_four, name, preset, tasks, scopes, expires_at, created_by)
    values (${id}, ${environment.id}, ${credentialDigest(text)}, ${seal(masterKey, text, secretKeyContext(id))}, ${lastFour(text)},
      ${properties.name}, ${properties.preset}, ${properties.tasks}, ${properties.scopes}, ${properties.expiresAt}, ${properties.createdBy})
    returning ${keyColumns(sql)}`;
  if (!row) throw new TypeError('insert returned nothing');
  return { row, text };
}

/** Creates a key. Its text is returned only this once. */
export async function createKey(
  sql: Sql,
  masterKey: MasterKey,
  environment: Environment,
  request: Body<typeof declaration>,
  by: Actor,
  now: number,
): Promise<SecretKey & { key: string }> {
  const tasks = request.tasks && [...new Set(request.tasks)];
  const scopes = scopesOfPreset(request.preset, tasks);
  if (!scopes) {
    throw unprocessable(
      `The preset ${request.preset} cannot be restricted to tasks: leave tasks out, or use trigger-only or task-operator`,
    );
  }
  if (tasks && tasks.length > maxKeyTasks) throw unprocessable(`A key can have at most ${maxKeyTasks} tasks`);
  const expiresAt = readExpiry(request.expiresAt, now);
  return sql.begin(async (tx) => {
    if (tasks) await refuseUnknownTasks(tx, environment, tasks);
    const { row, text } = await insertKey(tx, masterKey, environment, {
      name: request.name,
      preset: request.preset,
      tasks: tasks ?? null,
      scopes,
      expiresAt,
      createdBy: userBehind(by.principal),
    });
    const key = keyOf(row);
    await recordAct(tx, by, {
      act: 'key.created',
      target: key.id,
      in: { projectRef: environment.projectRef, environment: environment.kind },
      new: { name: key.name, preset: key.preset, tasks: key.tasks, expiresAt: key.expiresAt },
    });
    return { ...key, key: text };
  });
}

/** A task is known if any version of the environment or of one of its branches has it. */
async function refuseUnknownTasks(
  sql: Queryable,
  environment: Environment,
  tasks: readonly string[],
): Promise<void> {
  const unknown = await sql<{ id: string }[]>`
    select requested.id from unnest(${tasks}::text[]) as requested (id)
     where not exists (
       select from tasks t join versions v on v.id = t.version_id join environments e on e.id = v.env
        where t.id = requested.id and (e.id = ${environment.id} or e.parent_id = ${environment.id}))`;
  if (unknown.length > 0) {
    throw unprocessable(
      `No version of this environment has the task ${unknown.map(({ id }) => `"${id}"`).join(', ')}: register one first`,
    );
  }
}
