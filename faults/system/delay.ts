import { connect } from 'node:net';
import { addressOf } from '../network/nodes.ts';
import { until } from '../time.ts';
import { delayFile } from './folders.ts';
import { databaseAddress } from './haproxy.ts';
import { start } from './process.ts';

const controlPort = 5_001;
let started = false;

/** A proxy in front of HAProxy that can delay all bytes. Unlike netem, it needs no kernel module. */
export async function startDelay(folder: string): Promise<void> {
  if (started) return;
  started = true;
  const { host, port } = databaseAddress;
  start([process.execPath, delayFile, addressOf.delay, String(controlPort), host, String(port)], {
    node: 'delay',
    name: 'delay',
    folder,
  });
  await until('the delay proxy has started', 30, () => setDelay(0));
}

/** Sets the delay of each direction in milliseconds. */
export const setDelay = (ms: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect(controlPort, addressOf.delay, () => socket.end(`${ms}\n`));
    socket.on('error', reject);
    socket.on('close', () => resolve(true));
    socket.resume();
  });
