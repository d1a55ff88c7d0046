import { ImapFlow } from 'imapflow';

export default async () => {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: 1,
    secure: false,
    logger: false,
    auth: { user: 'a', pass: 'b' },
  });
  client.on('error', () => {});
  return client.connect().then(
    () => 'connected',
    (error) => error.code,
  );
};
