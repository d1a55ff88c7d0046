import { ping } from '@millrace/server';
import type { ConnectionCheck } from './input.ts';

export const databaseAnswers: ConnectionCheck = {
  name: 'database-answers',
  condition: 'the database accepts connections and writes',
  severity: 'error',
  why: 'Nothing works without the database.',
  fix: 'The message shows which setting of `DATABASE_URL` or PostgreSQL to correct.',
  async find({ open }) {
    const found: { what: string }[] = [];
    const findRefusal = (error: unknown): undefined => {
      if (!(error instanceof Error) || error.name !== 'DatabaseRefused') throw error;
      found.push({ what: error.message });
    };
    // Addresses that cannot be parsed are rejected here.
    const opened = await open().catch(findRefusal);
    for (const [database, variable] of [
      [opened?.database, 'DATABASE_URL'],
      [opened?.directDatabase, 'DATABASE_DIRECT_URL'],
    ] as const) {
      if (database !== undefined) await ping(database, variable).catch(findRefusal);
    }
    return found;
  },
};
