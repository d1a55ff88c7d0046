import Client from 'ssh2-sftp-client';

export default async () =>
  new Client().connect({ host: '127.0.0.1', port: 1, username: 'a', password: 'b' }).then(
    () => 'connected',
    (error) => error.code,
  );
