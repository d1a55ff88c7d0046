import { once } from 'node:events';
import Bull from 'bull';

/** Reads its Lua scripts from a folder of the package. */
export default async () => {
  const queue = new Bull('mails', {
    redis: { host: '127.0.0.1', port: 1, retryStrategy: () => null, maxRetriesPerRequest: 0 },
  });
  const [error] = await once(queue, 'error').catch((reason) => [reason]);
  await queue.close().catch(() => {});
  return error instanceof Error;
};
