import log4js from 'log4js';

export default async () => {
  log4js.configure({
    appenders: { memory: { type: 'recording' } },
    categories: { default: { appenders: ['memory'], level: 'info' } },
  });
  log4js.getLogger('mail').info('sent %d', 3);
  return log4js
    .recording()
    .playback()
    .map((event) => [event.categoryName, ...event.data]);
};
