import { createClient } from 'redis';

export default async () => {
  const client = createClient({ url: 'redis://127.0.0.1:1', socket: { reconnectStrategy: false } });
  client.on('error', () => {});
  return client.connect().then(
    () => 'connected',
    (error) => error.code,
  );
};
