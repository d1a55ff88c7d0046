import { z } from 'zod';
import { email } from '../../../../email.ts';
import { millrace } from '../../../../millrace.ts';

export async function POST(request: Request) {
  const { data, error } = email.safeParse(await request.json().catch(() => undefined));
  if (error) return Response.json({ error: z.prettifyError(error) }, { status: 400 });
  return Response.json(await millrace.tasks.trigger('send-email', data), { status: 202 });
}
