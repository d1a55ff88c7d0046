import type { DatabaseCheck } from '../database-input.ts';

export const transactionIds: DatabaseCheck = {
  name: 'transaction-ids',
  condition: 'old rows are frozen early enough (`age(datfrozenxid)` is below a billion)',
  severity: 'error',
  why: 'At 2.1 billion, PostgreSQL stops accepting writes.',
  fix: '`vacuum (freeze);` as the owner of the tables. First end long transactions, prepared transactions and replication slots, which prevent it.',
  async find({ sql, limits }) {
    const [row] = await sql<{ age: number }[]>`
      select greatest(age(datfrozenxid), mxid_age(datminmxid)) as age from pg_database where datname = current_database()`;
    return row && row.age > limits.transactionAge
      ? [{ what: `The oldest rows that are not frozen are ${row.age} transactions old.` }]
      : [];
  },
};
