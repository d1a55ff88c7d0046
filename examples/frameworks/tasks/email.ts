import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { metadata, task } from '@millrace/sdk';
import { email } from '../email.ts';

const server = process.env['SMTP_URL'] ?? 'smtp://mail.internal';

export const sendEmail = task({
  id: 'send-email',
  schema: email,
  run: async ({ to, subject }) => {
    metadata.set('server', server);
    await setTimeout(200); // Here it would be sent.
    return { messageId: createHash('sha256').update(`${to} ${subject}`).digest('hex').slice(0, 16) };
  },
});
