import { createClient } from '@libsql/client';

export default async () => {
  const { rows } = await createClient({ url: ':memory:' }).execute('select 1 + 1 as n');
  return rows[0].n;
};
