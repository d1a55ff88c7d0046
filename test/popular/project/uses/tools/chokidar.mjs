import { watch } from 'chokidar';
import { tmpdir } from 'node:os';
import { once } from 'node:events';

export default async () => {
  const watcher = watch(tmpdir(), { depth: 0, ignoreInitial: true });
  await once(watcher, 'ready');
  await watcher.close();
  return watcher.closed;
};
