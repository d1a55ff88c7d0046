/** A server in a separate process; its memory is requested over IPC. `BENCH_ADMISSION` has limits as JSON: `AdmissionLimits`. */
import { masterKeyOf } from '../../packages/server/src/auth/seal.ts';
import { createLog } from '../../packages/server/src/logger.ts';
import { startServer } from '../../packages/server/src/server.ts';

const server = await startServer({
  database: process.env['BENCH_DATABASE'] ?? '',
  port: 0,
  masterKey: masterKeyOf(Buffer.alloc(32, 1)),
  log: createLog(process.stderr, 'warn'),
  streamLimits: { process: 50_000, environment: 50_000, subject: 50_000 },
  reveal: true,
  admissionLimits: JSON.parse(process.env['BENCH_ADMISSION'] ?? '{}'),
});
process.on('disconnect', () => process.exit(0));
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss, cpuUs: process.cpuUsage() });
});
process.send?.({ port: server.port, secretKey: server.credentials?.environments.prod.secretKey });
