import { connect } from 'nats';

export default async () =>
  connect({ servers: '127.0.0.1:1' }).then(
    () => 'connected',
    (error) => error.code,
  );
