import { Queue } from 'bullmq';

/** Its Lua scripts are modules, and a sandboxed worker is a file. */
export default async () => {
  const queue = new Queue('mails', { connection: { host: '127.0.0.1', port: 1, retryStrategy: () => null } });
  queue.on('error', () => {});
  const error = await queue.waitUntilReady().then(
    () => 'ready',
    () => 'refused',
  );
  await queue.close().catch(() => {});
  return error;
};
