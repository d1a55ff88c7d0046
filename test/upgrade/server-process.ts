/** A server of some release in a process of its own. */
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { connect, type Database } from '../../packages/server/src/db/connect.ts';
import { migrate } from '../../packages/server/src/db/migrate.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer } from '../../packages/server/src/server.ts';
import { keepCompiled } from '../support/keep-compiled.ts';

const { database, folder } = JSON.parse(process.env['SERVER_OF_A_TEST'] ?? '') as {
  database: Database;
  /** The SQL of its release. Default: the present one. */
  folder?: string;
};
if (folder !== undefined) {
  const sql = connect(database, { name: 'newer', max: 1 });
  await migrate(sql, { folder: new URL(folder) });
  await sql.end();
}
const server = await startServer({
  database,
  port: 0,
  masterKey: masterKeyOf(Buffer.alloc(32, 7)),
  log: createLog(process.stderr, 'warn'),
  reveal: true,
});
process.on('disconnect', () => process.exit(1));
keepCompiled();
process.send?.({ url: server.url, key: server.credentials?.environments.prod.secretKey });
