import initSqlJs from 'sql.js';

export default async () => {
  const { Database } = await initSqlJs();
  return new Database().exec('select 1 + 1')[0].values;
};
