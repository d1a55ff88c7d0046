import sendgrid from '@sendgrid/mail';

export default async () => {
  sendgrid.setApiKey('SG.none');
  sendgrid.client.setDefaultRequest('baseUrl', 'http://127.0.0.1:1');
  return sendgrid.send({ from: 'a@b.c', to: 'd@e.f', subject: 'Hello', text: 'Hello' }).then(
    () => 'sent',
    (error) => error.code,
  );
};
