import type { Database } from '@millrace/server';
import { startPostgres } from '../../postgres/index.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import type { Closing } from './closing.ts';

export interface OpenDatabase {
  readonly database: Database;
  /** Rejects when the embedded PostgreSQL is gone for good; never settles otherwise. */
  readonly lost: Promise<never>;
}

/** Starts the embedded PostgreSQL on a folder. */
export async function embeddedDatabase(
  dataDir: string,
  closing: Closing,
  onLog?: (line: string) => void,
): Promise<OpenDatabase> {
  const running = await startPostgres({ dataDir, ...(onLog && { onLog }) });
  closing.add(() => running.stop());
  const lost = running.exited.then(({ error }) => {
    if (error === null) return new Promise<never>(() => {});
    throw new CommandFailed(exitCodes.failed, `The embedded PostgreSQL is gone: ${error.message}`);
  });
  // Whoever waits for it hears of it; nobody may be waiting while the server is still starting.
  lost.catch(() => {});
  return { database: running.connection, lost };
}

/** The database of DATABASE_URL. Its text holds a password: it never gets into a message. */
export function externalDatabase(url: string): OpenDatabase {
  if (!URL.canParse(url) || !/^postgres(?:ql)?:$/.test(new URL(url).protocol)) {
    throw new CommandFailed(
      exitCodes.cannotStart,
      'DATABASE_URL is not the address of a PostgreSQL database; write postgresql://user:password@host:5432/database.',
    );
  }
  return { database: url, lost: new Promise<never>(() => {}) };
}
