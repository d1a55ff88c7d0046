import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { z } from 'zod';
import { email } from '../email.ts';
import { millrace } from '../millrace.ts';

const app = new Hono();

app.post('/emails', async (c) => {
  const { data, error } = email.safeParse(await c.req.json().catch(() => undefined));
  if (error) return c.json({ error: z.prettifyError(error) }, 400);
  return c.json(await millrace.tasks.trigger('send-email', data), 202);
});

serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 4050), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`http://127.0.0.1:${port}`);
});
