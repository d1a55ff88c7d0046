import { Connection } from 'tedious';

export default async () => {
  const connection = new Connection({
    server: '127.0.0.1',
    options: { port: 1 },
    authentication: { type: 'default', options: { userName: 'a', password: 'b' } },
  });
  return new Promise((resolve) => connection.connect((error) => resolve(error.code)));
};
