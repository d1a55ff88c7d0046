import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import winston from 'winston';
import DailyRotateFile from 'winston-daily-rotate-file';

export default async () => {
  const dirname = await mkdtemp(join(tmpdir(), 'rotate-'));
  const transport = new DailyRotateFile({
    dirname,
    filename: 'app-%DATE%.log',
    auditFile: join(dirname, 'audit.json'),
  });
  const logger = winston.createLogger({ transports: [transport] });
  logger.info('hello');
  await new Promise((resolve) => {
    transport.on('finish', resolve);
    logger.end();
  });
  return (await readdir(dirname)).some((name) => name.startsWith('app-'));
};
