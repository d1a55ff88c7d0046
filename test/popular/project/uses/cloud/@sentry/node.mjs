import * as Sentry from '@sentry/node';

export default async () => {
  const events = [];
  Sentry.init({
    dsn: 'http://a@127.0.0.1:1/1',
    beforeSend(event) {
      events.push(event);
      return null;
    },
    defaultIntegrations: false,
  });
  Sentry.captureException(new Error('failed'));
  await Sentry.flush(500);
  return events.map((event) => event.exception.values[0].value);
};
