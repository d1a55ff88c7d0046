import { PGlite } from '@electric-sql/pglite';

/** PostgreSQL in a `.wasm` file of the package. */
export default async () => {
  const db = await PGlite.create();
  const { rows } = await db.query('select 1 + 1 as n');
  await db.close();
  return rows;
};
