import { findRoutes, ping, Skipped } from '@millrace/server';
import type { ConnectionCheck } from './input.ts';

export const databasePooler: ConnectionCheck = {
  name: 'database-pooler',
  condition: 'a direct address is set if the database is behind a pooler in transaction mode',
  severity: 'error',
  why: 'Servers do not start: they need sessions for notifications, locks and prepared statements.',
  fix: 'Set `DATABASE_DIRECT_URL` to the address of PostgreSQL itself, or set the pooler to `pool_mode = session`.',
  async find({ open }) {
    const opened = await open()
      .then(async ({ database, directDatabase }) => {
        await Promise.all([ping(database), directDatabase && ping(directDatabase)]);
        return { database, directDatabase };
      })
      .catch(() => {
        throw new Skipped('the database does not respond');
      });
    try {
      await findRoutes(opened.database, opened.directDatabase);
      return [];
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'DatabaseRefused') throw error;
      return [{ what: error.message }];
    }
  },
};
