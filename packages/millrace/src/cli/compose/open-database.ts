import type { Database } from '@millrace/server';
import { startPostgres } from '../../postgres/index.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import type { Closing } from './closing.ts';

export interface OpenDatabase {
  readonly database: Database;
  /** The same without a pooler between, where that is another address. */
  readonly directDatabase?: Database | undefined;
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

/** The databases of DATABASE_URL and DATABASE_DIRECT_URL. Their texts hold passwords: they never get into a message. */
export function externalDatabase(url: string, directUrl?: string): OpenDatabase {
  refuseOther(url, 'DATABASE_URL');
  if (directUrl !== undefined) refuseOther(directUrl, 'DATABASE_DIRECT_URL');
  return { database: url, directDatabase: directUrl, lost: new Promise<never>(() => {}) };
}

function refuseOther(url: string, variable: string): void {
  if (URL.canParse(url) && /^postgres(?:ql)?:$/.test(new URL(url).protocol)) return;
  throw new CommandFailed(
    exitCodes.cannotStart,
    `${variable} is not the address of a PostgreSQL database; write postgresql://user:password@host:5432/database.`,
  );
}
