import type { Queryable } from '../../db/connect.ts';
import { notFound } from '../../problem.ts';
import { storedKey } from './idempotency-key.ts';

/** Deletes an idempotency key, so that the next trigger with it creates a new run. 404 if the key is not stored. */
export async function forgetKey(sql: Queryable, env: number, task: string, key: string): Promise<void> {
  const { count } = await sql`
    delete from idempotency_keys where env = ${env} and task = ${task} and key = ${storedKey(key)}`;
  if (count === 0)
    throw notFound(`No idempotency key "${key.slice(0, 100)}" is stored for the task "${task}".`);
}
