import { retry, task } from '@millrace/sdk';
import { z } from 'zod';
import { call, ServiceError } from '../lib/service.ts';
import { render, templateNames } from '../lib/templates.ts';

export class MailRateLimited extends Error {
  override readonly name = 'MailRateLimited';
}

export const sendMail = task({
  id: 'send-mail',
  description: 'Sends one email to one recipient',
  schema: z.object({
    template: z.enum(templateNames),
    to: z.string(),
    values: z.record(z.string(), z.unknown()),
  }),
  queue: { name: 'mail', concurrencyLimit: 4 },
  retry: { maxAttempts: 3, minTimeoutInMs: 300 },
  run: async ({ template, to, values }) => {
    const text = render(template, values);
    try {
      const send = () => call<{ id: string }>('mail', '/messages', { body: { to, text } });
      return await retry.onThrow(send, { maxAttempts: 2, minTimeoutInMs: 50 });
    } catch (error) {
      if (error instanceof ServiceError && error.status === 429)
        throw new MailRateLimited('The mail provider accepts no more mail this minute', { cause: error });
      throw error;
    }
  },
});
