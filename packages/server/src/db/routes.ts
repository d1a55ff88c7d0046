import { randomBytes } from 'node:crypto';
import { connect, type Database } from './connect.ts';
import { DatabaseRefused } from './migrate.ts';
import type { Route } from './pooler.ts';
import { ping } from './ping.ts';

/** The ways to one database. */
export interface Routes {
  /** For everything that is done with the end of its transaction. */
  readonly main: Route<Database>;
  /** To PostgreSQL itself, or over a pooler that keeps sessions apart: for listening, locks of a session and what is prepared there. */
  readonly direct: Route<Database>;
}

const heardMs = 5_000;

/** Finds out how a database is reached, and refuses what could not work, with one sentence that says what to set. */
export async function findRoutes(database: Database, directDatabase?: Database): Promise<Routes> {
  const main = await ping(database);
  if (directDatabase === undefined) {
    if (main.pooler?.mode !== 'transaction') return { main, direct: main };
    throw new DatabaseRefused(
      'DATABASE_URL leads to a pooler in transaction mode (such as PgBouncer with pool_mode=transaction): set DATABASE_DIRECT_URL to the address of PostgreSQL itself as well, or use session mode; see docs/poolers.md.',
    );
  }
  const direct = await ping(directDatabase, 'DATABASE_DIRECT_URL');
  if (direct.pooler?.mode === 'transaction') {
    throw new DatabaseRefused(
      'DATABASE_DIRECT_URL leads to a pooler in transaction mode: give the address of PostgreSQL itself.',
    );
  }
  await refuseDifferent(main, direct);
  return { main, direct };
}

/** What is notified over the one must be heard over the other: that is what the second one is for. */
async function refuseDifferent(main: Route<Database>, direct: Route<Database>): Promise<void> {
  const [from, to] = [main, direct].map(({ database, pooler }) =>
    connect(database, { name: 'millrace probe', max: 1, pooler }),
  ) as [ReturnType<typeof connect>, ReturnType<typeof connect>];
  const channel = `millrace_probe_${randomBytes(8).toString('hex')}`;
  let hear: (heard: boolean) => void = () => {};
  const heard = new Promise<boolean>((resolve) => {
    hear = resolve;
  });
  const timer = setTimeout(() => hear(false), heardMs);
  const listening = await to.listen(channel, () => hear(true));
  try {
    await from`select pg_notify(${channel}, '')`;
    if (await heard) return;
  } finally {
    clearTimeout(timer);
    await listening.unlisten().catch(() => {});
    await Promise.all([from.end({ timeout: 1 }), to.end({ timeout: 1 })]);
  }
  throw new DatabaseRefused(
    'DATABASE_URL and DATABASE_DIRECT_URL are not the same database: what is notified over one is not heard over the other.',
  );
}
