import mysql from 'mysql2/promise';

export default async () =>
  mysql.createConnection({ host: '127.0.0.1', port: 1 }).then(
    () => 'connected',
    (error) => error.code,
  );
