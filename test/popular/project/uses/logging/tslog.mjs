import { Logger } from 'tslog';

export default async () => {
  const logged = [];
  const logger = new Logger({ type: 'hidden', attachedTransports: [(entry) => logged.push(entry[0])] });
  logger.info('hello');
  return logged;
};
