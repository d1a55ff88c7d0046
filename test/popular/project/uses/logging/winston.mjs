import { Writable } from 'node:stream';
import winston from 'winston';

export default async () => {
  const lines = [];
  const stream = new Writable({ write: (chunk, _, done) => done(null, lines.push(String(chunk).trim())) });
  const logger = winston.createLogger({ transports: [new winston.transports.Stream({ stream })] });
  logger.info('hello', { n: 1 });
  await new Promise((resolve) => logger.on('finish', resolve).end());
  return lines;
};
