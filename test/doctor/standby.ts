import type { Database } from '../../packages/server/src/db/connect.ts';
import { WatchedClient } from '../../packages/server/src/db/client.ts';
import { watchedConfig } from '../../packages/server/src/db/config.ts';

/** Follows a PostgreSQL as a standby does, and never reports more replayed WAL than at its start. */
export async function startStandby(database: Database): Promise<() => Promise<void>> {
  const config = { ...watchedConfig(database), replication: 'database' };
  const client = new WatchedClient(config) as WatchedClient & {
    readonly connection: {
      sendCopyFromChunk(chunk: Buffer): void;
      once(name: string, act: () => void): void;
    };
  };
  await client.connect();
  const { rows } = await client.query<{ xlogpos: string }>('IDENTIFY_SYSTEM');
  const position = rows[0]?.xlogpos ?? '0/0';
  const started = new Promise<void>((resolve) => client.connection.once('replicationStart', resolve));
  client.query(`START_REPLICATION PHYSICAL ${position}`).catch(() => {});
  await started;
  const [high = '0', low = '0'] = position.split('/');
  const at = (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
  // The written, flushed and replayed positions; the time; no reply requested.
  const status = Buffer.alloc(34);
  status.write('r');
  for (const offset of [1, 9, 17]) status.writeBigUInt64BE(at, offset);
  client.connection.sendCopyFromChunk(status);
  return () => client.end();
}
