import debug from 'debug';

export default async () => {
  debug.enable('app:*');
  const log = debug('app:mail');
  const lines = [];
  log.log = (line) => lines.push(line);
  log('sent %d', 3);
  return [log.enabled, lines.length];
};
