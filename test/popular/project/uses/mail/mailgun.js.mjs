import Mailgun from 'mailgun.js';

export default async () =>
  typeof new Mailgun(FormData).client({ username: 'api', key: 'none' }).messages.create;
