import { ping } from '@millrace/server';
import type { ConnectionCheck } from './facts.ts';

export const databaseAnswers: ConnectionCheck = {
  name: 'database-answers',
  looksAt: 'the database accepts connections, and can be written',
  severity: 'error',
  why: 'Nothing works without the database.',
  mend: 'The message says what to correct in `DATABASE_URL` or in PostgreSQL.',
  async find({ open }) {
    const found: { what: string }[] = [];
    const findRefusal = (error: unknown): undefined => {
      if (!(error instanceof Error) || error.name !== 'DatabaseRefused') throw error;
      found.push({ what: error.message });
    };
    // Addresses that cannot be read are refused here.
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
