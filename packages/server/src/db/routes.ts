import { randomBytes } from 'node:crypto';
import { connect } from './connect.ts';
import type { Database, Route } from './database.ts';
import { DatabaseRefused } from './errors.ts';
import { ping } from './ping.ts';

/** The routes to one database. */
export interface Routes {
  /** For operations that end with their transaction. */
  readonly main: Route;
  /** To PostgreSQL itself or a pooler in session mode. For `listen`, session locks and prepared statements. */
  readonly direct: Route;
}

const notificationTimeoutMs = 5_000;

/** Finds the routes to a database. Rejects unusable settings with a one-sentence message that names the correct setting. */
export async function findRoutes(database: Database, directDatabase?: Database): Promise<Routes> {
  const main = await ping(database);
  if (directDatabase === undefined) {
    if (main.pooler?.mode !== 'transaction') return { main, direct: main };
    throw new DatabaseRefused(
      'DATABASE_URL points to a pooler in transaction mode (such as PgBouncer with pool_mode=transaction): set DATABASE_DIRECT_URL to the address of PostgreSQL itself as well, or use session mode; see: millrace help poolers',
    );
  }
  const direct = await ping(directDatabase, 'DATABASE_DIRECT_URL');
  if (direct.pooler?.mode === 'transaction') {
    throw new DatabaseRefused(
      'DATABASE_DIRECT_URL points to a pooler in transaction mode: use the address of PostgreSQL itself.',
    );
  }
  await refuseDifferent(main, direct);
  return { main, direct };
}

/** Sends a notification over one route and expects it on the other. */
async function refuseDifferent(main: Route, direct: Route): Promise<void> {
  const [from, to] = [main, direct].map(({ database, pooler }) =>
    connect(database, { name: 'millrace probe', max: 1, pooler }),
  ) as [ReturnType<typeof connect>, ReturnType<typeof connect>];
  const channel = `millrace_probe_${randomBytes(8).toString('hex')}`;
  let resolve: (hasArrived: boolean) => void = () => {};
  const arrived = new Promise<boolean>((resolveArrived) => {
    resolve = resolveArrived;
  });
  const timer = setTimeout(() => resolve(false), notificationTimeoutMs);
  const listening = await to.listen(channel, () => resolve(true));
  try {
    await from`select pg_notify(${channel}, '')`;
    if (await arrived) return;
  } finally {
    clearTimeout(timer);
    await listening.unlisten().catch(() => {});
    await Promise.all([from.end({ timeout: 1 }), to.end({ timeout: 1 })]);
  }
  throw new DatabaseRefused(
    'DATABASE_URL and DATABASE_DIRECT_URL are not the same database: a notification over one does not arrive over the other.',
  );
}
