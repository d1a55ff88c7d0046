import Redis from 'ioredis';

export default async () => {
  const redis = new Redis({ host: '127.0.0.1', port: 1, lazyConnect: true, retryStrategy: null });
  redis.on('error', () => {});
  return redis.connect().then(
    () => 'connected',
    () => 'refused',
  );
};
