import { connect, DatabaseLost, type Database } from './connect.ts';
import { DatabaseRefused } from './migrate.ts';

const reachMs = 10_000;

/** Asks the database for a sign of life; rejects with one sentence, instead of a driver's code, when there is none. */
export async function reach(database: Database): Promise<void> {
  const probe = connect(database, { name: 'millrace probe', max: 1 });
  try {
    await Promise.race([
      probe`select 1`,
      new Promise((_, reject) =>
        setTimeout(reject, reachMs, new Error('no answer within ten seconds')).unref(),
      ),
    ]);
  } catch (error) {
    const cause = error instanceof DatabaseLost ? error.cause : error;
    const reason =
      cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : '') : String(cause);
    throw new DatabaseRefused(`The database at ${withoutPassword(database)} cannot be reached: ${reason}.`);
  } finally {
    await probe.end({ timeout: 0 }).catch(() => {});
  }
}

function withoutPassword(database: Database): string {
  if (typeof database !== 'string')
    return `${database.host}${database.port === undefined ? '' : `:${database.port}`}`;
  try {
    const { host, pathname } = new URL(database);
    return `${host}${pathname}`;
  } catch {
    return 'DATABASE_URL (which is not a valid URL)';
  }
}
