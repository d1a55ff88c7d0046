import nodemailer from 'nodemailer';

export default async () => {
  const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  const { message } = await transport.sendMail({
    from: 'a@b.c',
    to: 'd@e.f',
    subject: 'Grüße',
    text: 'Hello',
  });
  return String(message).match(/^Subject: .*$/m)[0];
};
