import { join, resolve } from 'node:path';
import { loadProject } from '../../project/load.ts';
import { ownDev, type Connection } from '../running-dev.ts';
import { screenOn } from '../screen.ts';
import { listenForStop } from '../stop-request.ts';
import { waitsFor } from '../waiting.ts';
import { withCleanup } from './cleanup.ts';
import { embeddedDatabase } from './open-database.ts';
import type { ServeOptions } from './serve-project.ts';

export interface DevOptions extends ServeOptions {
  /** The folder of the project. */
  readonly dir: string;
  /** Default: `.millrace/data` in the project. */
  readonly data?: string;
}

/**
 * Runs the database, server, watcher and runner for the project in a folder, until stopped.
 * @param onServed called when the project is served, with a secret key of the environment
 */
export async function dev(
  options: DevOptions,
  onServed: (connection: Connection) => Promise<void> = async () => {},
): Promise<void> {
  const screen = screenOn(options.json ? process.stderr : process.stdout);
  const stop = listenForStop(() => screen.line('Stopping. Press Ctrl-C again to stop immediately.'));
  await withCleanup(async (cleanup) => {
    // Report an invalid project before anything is started or written.
    const project = await loadProject(options.dir);
    const owned = await ownDev(project.dir);
    cleanup.add(() => owned.release());
    const data = resolve(options.data ?? join(project.dir, '.millrace', 'data'));
    waitsFor(`PostgreSQL to start on ${data}`);
    const errors = screenOn(process.stderr);
    const onLog = options.verbose ? (line: string) => errors.line(line) : undefined;
    const opening = embeddedDatabase(data, cleanup, { onLog });
    // The modules of the server take half a second to load. PostgreSQL starts at the same time.
    const [opened, { serveProject }] = await Promise.all([opening, import('./serve-project.ts')]);
    await serveProject({ options, project, owned, data, opened, screen, stop, cleanup, onServed });
  });
}
