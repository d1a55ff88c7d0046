import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';

/** A transport is a worker thread, whose file pino finds next to itself. */
export default async () => {
  const destination = join(tmpdir(), `pino-${process.pid}-${Date.now()}.log`);
  const transport = pino.transport({ target: 'pino/file', options: { destination } });
  await once(transport, 'ready');
  pino({ base: null, timestamp: false }, transport).info('written');
  transport.end();
  await once(transport, 'close');
  return (await readFile(destination, 'utf8')).trim();
};
