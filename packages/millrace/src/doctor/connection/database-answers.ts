import { ping } from '@millrace/server';
import type { ConnectionCheck } from './input.ts';

export const databaseAnswers: ConnectionCheck = {
  name: 'database-answers',
  looksAt: 'the database accepts connections and writes',
  severity: 'error',
  why: 'Nothing works without the database.',
  fix: 'The message shows which setting of `DATABASE_URL` or PostgreSQL to correct.',
  async find({ open }) {
    const { database, directDatabase } = await open();
    const found: { what: string }[] = [];
    for (const [target, variable] of [
      [database, 'DATABASE_URL'],
      [directDatabase, 'DATABASE_DIRECT_URL'],
    ] as const) {
      if (target === undefined) continue;
      await ping(target, variable).catch((error: unknown) => {
        if (!(error instanceof Error) || error.name !== 'DatabaseRefused') throw error;
        found.push({ what: error.message });
      });
    }
    return found;
  },
};
