import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import type { Pooler } from './database.ts';
import { DatabaseRefused } from './errors.ts';

const comparisons = 10;
const timeoutMs = 8_000;

/**
 * Detects a pooler between this process and PostgreSQL, with `first` and further connections created by `open`. A client's cancellation key
 * contains the process id of the session; a pooler sends another number.
 */
export async function detectPooler(
  first: Client,
  open: () => Promise<Client>,
  variable: string,
): Promise<Pooler | undefined> {
  const { processID } = first as Client & { readonly processID: number | null };
  if ((await sessionOf(first)) === processID) return undefined;
  const second = await withTimeout(open(), variable);
  try {
    const shared = await areShared(first, second, variable);
    const namedStatements = await inOneTransaction(first, variable, renamesStatements);
    return shared ? { mode: 'transaction', namedStatements } : { mode: 'session', namedStatements: true };
  } finally {
    second.end().catch(() => {});
  }
}

const sessionOf = async (client: Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

/**
 * Whether two clients ever get the same session, or one of them gets a different session than before. Each queries twice in a row, because
 * a round-robin pooler could give alternating clients the same session each time.
 */
async function areShared(first: Client, second: Client, variable: string): Promise<boolean> {
  const seen: number[][] = [[], []];
  for (let n = 0; n < comparisons; n++) {
    for (const [index, client] of [first, first, second, second].entries()) {
      seen[index >> 1]?.push(await withTimeout(sessionOf(client), variable));
    }
  }
  const [left, right] = seen.map((sessions) => new Set(sessions)) as [Set<number>, Set<number>];
  return left.size > 1 || right.size > 1 || [...left].some((session) => right.has(session));
}

/** Whether the pooler assigns its own names to statements, and therefore tracks the sessions in which they are prepared. */
async function renamesStatements(client: Client): Promise<boolean> {
  const name = `millrace_probe_${randomBytes(8).toString('hex')}`;
  const text = `select '${name}' as probe`;
  await client.query({ name, text });
  const { rows } = await client.query<{ name: string }>(
    'select name from pg_prepared_statements where statement = $1',
    [text],
  );
  if (rows.some((row) => row.name === name)) {
    await client.query(`deallocate ${name}`);
    return false;
  }
  return rows.length > 0;
}

async function inOneTransaction<R>(
  client: Client,
  variable: string,
  act: (client: Client) => Promise<R>,
): Promise<R> {
  try {
    await client.query('begin');
  } catch (error) {
    throw new DatabaseRefused(
      `${variable} points to a pooler that refuses transactions (${(error as Error).message}): Millrace needs pool_mode transaction or session.`,
    );
  }
  const result = await act(client);
  await client.query('commit');
  return result;
}

async function withTimeout<R>(work: Promise<R>, variable: string): Promise<R> {
  work.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refusal = `${variable} points to a pooler that has no free connection to PostgreSQL: each server needs up to 16 connections of the pool in session mode, fewer in transaction mode.`;
    timer = setTimeout(() => reject(new DatabaseRefused(refusal)), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
