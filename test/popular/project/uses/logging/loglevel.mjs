import log from 'loglevel';

export default async () => {
  log.setLevel('warn', false);
  return log.getLevel();
};
