import knex from 'knex';

/** knex loads `pg` by the name of the client. */
export default async () => {
  const db = knex({ client: 'pg', connection: { host: '127.0.0.1', port: 1 } });
  const { sql } = db('mails').where({ id: 1 }).toSQL().toNative();
  const error = await db.raw('select 1').catch(({ code }) => code);
  await db.destroy();
  return [sql, error];
};
