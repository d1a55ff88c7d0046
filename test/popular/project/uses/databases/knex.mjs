import knex from 'knex';

/** The client is named, and knex loads `pg`. */
export default async () => {
  const db = knex({ client: 'pg', connection: { host: '127.0.0.1', port: 1 } });
  const { sql } = db('mails').where({ id: 1 }).toSQL().toNative();
  const error = await db.raw('select 1').catch(({ code }) => code);
  await db.destroy();
  return [sql, error];
};
