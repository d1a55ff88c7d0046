'use server';

import { z } from 'zod';
import { email } from '../../email.ts';
import { millrace } from '../../millrace.ts';

export async function sendEmail(_previous: unknown, form: FormData) {
  const { data, error } = email.safeParse(Object.fromEntries(form));
  if (error) return { error: z.prettifyError(error) };
  return { handle: await millrace.tasks.trigger('send-email', data) };
}
