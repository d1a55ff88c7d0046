import type { AddressInfo } from 'node:net';
import express from 'express';
import { z } from 'zod';
import { email } from '../email.ts';
import { millrace } from '../millrace.ts';

const app = express();
app.use(express.json());

// oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes what an async handler throws
app.post('/emails', async (request, response) => {
  const { data, error } = email.safeParse(request.body);
  if (error) {
    response.status(400).json({ error: z.prettifyError(error) });
    return;
  }
  response.status(202).json(await millrace.tasks.trigger('send-email', data));
});

const server = app.listen(Number(process.env['PORT'] ?? 4050), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
