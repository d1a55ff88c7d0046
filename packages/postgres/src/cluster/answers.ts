import { connect } from 'node:net';
import { LOOPBACK } from './listening.ts';

/** PostgreSQL's SSLRequest, to which it replies with one letter before any login. */
const request = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const patienceMs = 2_000;

/** Whether a PostgreSQL server listens on a port of this machine. */
export function answersAsPostgres(port: number): Promise<boolean> {
  if (!(port > 0 && port < 65_536)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect(port, LOOPBACK, () => socket.write(request));
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(patienceMs, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('data', (bytes) => finish(['N', 'S'].includes(bytes.toString('latin1'))));
  });
}
