/** A server in a process of its own that can be killed. */
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import type { Database } from '../../packages/server/src/db/connect.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer, type ServerOptions } from '../../packages/server/src/server.ts';
import { keepCompiled } from '../support/keep-compiled.ts';

const { database, port, leaseTimes } = JSON.parse(process.env['SERVER_OF_A_TEST'] ?? '') as {
  database: Database;
  port: number;
  leaseTimes?: ServerOptions['leaseTimes'];
};
const server = await startServer({
  database,
  port,
  masterKey: masterKeyOf(Buffer.alloc(32, 7)),
  log: createLog({ write() {} }),
  reveal: true,
  ...(leaseTimes && { leaseTimes }),
});
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
keepCompiled();
process.send?.({ port: server.port, secretKey: server.credentials?.environments.prod.secretKey });
