import oracledb from 'oracledb';

export default async () =>
  oracledb.getConnection({ user: 'a', password: 'b', connectString: '127.0.0.1:1/none' }).then(
    () => 'connected',
    (error) => error.code,
  );
