import { databaseAnswers } from './connection/database-answers.ts';
import { databasePooler } from './connection/database-pooler.ts';
import { dataFolder } from './connection/data-folder.ts';
import { backupAge } from './machine/backup-age.ts';
import { backupMissing } from './machine/backup-missing.ts';
import { diskInodes } from './machine/disk-inodes.ts';
import { diskSpace } from './machine/disk-space.ts';
import { keyFile } from './machine/key-file.ts';
import { nodeVersion } from './machine/node-version.ts';
import { port } from './machine/port.ts';
import { certificate } from './server/certificate.ts';
import { proxyAddress } from './server/proxy-address.ts';
import { proxyBuffering } from './server/proxy-buffering.ts';
import { proxyClientAddress } from './server/proxy-client-address.ts';
import { proxyWebsocket } from './server/proxy-websocket.ts';
import { serverAnswers } from './server/server-answers.ts';
import { serverClock } from './server/server-clock.ts';
import { serverDiagnosis } from './server/server-diagnosis.ts';
import { serverReady } from './server/server-ready.ts';

/** Checks of the machine on which the command runs. */
export const machineChecks = [nodeVersion, port, diskSpace, diskInodes, keyFile, backupMissing, backupAge];

/** The first check of an embedded database, because opening a database that does not exist would create it. */
export const folderChecks = [dataFolder];

/** Checks of the connection to a database. */
export const connectionChecks = [databaseAnswers, databasePooler];

/** The first check of a server: if it does not respond, the others are skipped. */
export const answerChecks = [serverAnswers];

/** Checks of a responding server, and of the proxy in front of it. */
export const serverChecks = [
  serverReady,
  serverDiagnosis,
  serverClock,
  certificate,
  proxyWebsocket,
  proxyAddress,
  proxyClientAddress,
  proxyBuffering,
];
