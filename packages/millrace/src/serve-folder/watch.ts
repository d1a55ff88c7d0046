import { dirname, sep } from 'node:path';
import type { FSWatcher } from 'chokidar';

/** Milliseconds, because one save causes several events. */
const quietMs = 30;

export interface Watcher {
  /** Replaces the watched paths: folders, recursively, and single files. */
  readonly watch: (paths: readonly string[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Calls back shortly after a change under the watched paths, except in node_modules and in Millrace's own files. */
export async function startWatcher(onChange: () => void): Promise<Watcher> {
  const { watch } = await import('chokidar');
  const ours = [`${sep}node_modules${sep}`, `${sep}.millrace${sep}`];
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  let watched = new Set<string>();
  /** Watched files that do not exist at the moment. A build may need them once they reappear. */
  const gone = new Set<string>();
  return {
    watch: async (paths) => {
      const targets = new Set([...paths, ...gone]);
      if (watcher) {
        watcher.add([...targets].filter((path) => !watched.has(path)));
        // chokidar ignores an unwatched file even inside a watched folder.
        watcher.unwatch([...watched].filter((path) => !targets.has(path) && !isWithin(targets, path)));
        watched = targets;
        return;
      }
      watched = targets;
      const started = watch([...targets], {
        ignoreInitial: true,
        ignored: (path) => ours.some((part) => `${path}${sep}`.includes(part)),
      });
      watcher = started;
      started.on('unlink', (path) => {
        if (!watched.has(path)) return;
        gone.add(path);
        // Adding a missing file makes chokidar wait for it.
        started.add(path);
      });
      started.on('add', (path) => gone.delete(path));
      started.on('all', () => {
        clearTimeout(timer);
        timer = setTimeout(onChange, quietMs);
      });
      await new Promise<void>((resolve) => {
        started.once('ready', resolve);
      });
    },
    close: async () => {
      clearTimeout(timer);
      await watcher?.close();
    },
  };
}

function isWithin(folders: ReadonlySet<string>, path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder))
    if (folders.has(folder)) return true;
  return false;
}
