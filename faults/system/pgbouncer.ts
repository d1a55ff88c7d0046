import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressOf } from '../network/nodes.ts';
import { databaseAddress } from './haproxy.ts';
import { password } from './postgres.ts';
import { start, type Started } from './process.ts';

/** PgBouncer in transaction mode, in front of HAProxy. */
export async function startPgbouncer(folder: string): Promise<Started> {
  const users = join(folder, 'pgbouncer-users.txt');
  await writeFile(users, `"millrace" "${password}"\n`);
  const file = join(folder, 'pgbouncer.ini');
  const settings = {
    listen_addr: addressOf.pooler,
    listen_port: 6432,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: users,
    pool_mode: 'transaction',
    default_pool_size: 30,
    server_login_retry: 1,
    max_client_conn: 500,
  };
  await writeFile(
    file,
    `[databases]\nmillrace = host=${databaseAddress.host} port=${databaseAddress.port} dbname=millrace\n[pgbouncer]\n` +
      `${Object.entries(settings)
        .map(([key, value]) => `${key} = ${value}`)
        .join('\n')}\n`,
  );
  return start(['pgbouncer', file], { node: 'pooler', name: 'pgbouncer', folder, user: 'postgres' });
}
