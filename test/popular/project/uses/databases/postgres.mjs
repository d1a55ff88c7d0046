import postgres from 'postgres';

export default async () => {
  const sql = postgres('postgres://127.0.0.1:1/none', { max: 1, connect_timeout: 2 });
  return sql`select 1`.then(
    () => 'selected',
    (error) => error.code,
  );
};
