import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';

/** The transport is loaded by name, not imported. */
export default async () => {
  const destination = join(tmpdir(), `pino-pretty-${process.pid}-${Date.now()}.log`);
  const options = { destination, colorize: false, ignore: 'time,pid,hostname' };
  const transport = pino.transport({ target: 'pino-pretty', options });
  await once(transport, 'ready');
  pino(transport).info('pretty');
  transport.end();
  await once(transport, 'close');
  return (await readFile(destination, 'utf8')).trim();
};
