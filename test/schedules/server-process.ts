/** A server in a process of its own that can be killed; its parent moves its time. */
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import type { Database } from '../../packages/server/src/db/connect.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer } from '../../packages/server/src/server.ts';
import { keepCompiled } from '../support/keep-compiled.ts';

const { database, shiftMs } = JSON.parse(process.env['SERVER_OF_A_TEST'] ?? '') as {
  database: Database;
  shiftMs: number;
};
const server = await startServer({
  database,
  port: 0,
  masterKey: masterKeyOf(Buffer.alloc(32, 7)),
  log: createLog(process.stderr, 'error'),
  reveal: true,
});
server.shiftTime(shiftMs);
process.on('message', (ms: number) => server.shiftTime(ms));
process.on('disconnect', () => process.exit(1));
keepCompiled();
process.send?.({ url: server.url, secretKey: server.credentials?.environments.prod.secretKey });
