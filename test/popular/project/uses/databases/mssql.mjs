import sql from 'mssql';

export default async () =>
  sql.connect({ server: '127.0.0.1', port: 1, user: 'a', password: 'b' }).then(
    () => 'connected',
    (error) => error.code,
  );
