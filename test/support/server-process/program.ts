/** The server of a test, in a separate process. `start.ts` starts it. */
import { connect, createLog, migrate, parseMasterKey, startServer } from '@millrace/server';
import { patientAdmission } from '../patient-admission.ts';
import { keepCompiled } from '../keep-compiled.ts';
import type { ServerSettings } from './start.ts';

const { database, folder, shiftMs, port, leaseTimes } = JSON.parse(
  process.env['SERVER_OF_A_TEST'] ?? '',
) as ServerSettings;
if (folder !== undefined) {
  const sql = connect(database, { name: 'newer', max: 1 });
  await migrate(sql, { folder: new URL(folder) });
  await sql.end();
}
const server = await startServer({
  database,
  port: port ?? 0,
  masterKey: parseMasterKey('07'.repeat(32), 'the test'),
  log: createLog(process.stderr, 'warn'),
  reveal: true,
  admissionLimits: patientAdmission,
  notificationNetworks: ['127.0.0.0/8'],
  ...(leaseTimes && { leaseTimes }),
});
server.shiftTime(shiftMs ?? 0);
process.on('message', (ms: number) => server.shiftTime(ms));
process.on('disconnect', () => process.exit(1));
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
keepCompiled();
process.send?.({
  url: server.url,
  port: server.port,
  secretKey: server.credentials?.environments.prod.secretKey,
  projectRef: server.credentials?.projectRef,
});
