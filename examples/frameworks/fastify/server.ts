import Fastify from 'fastify';
import { z } from 'zod';
import { email } from '../email.ts';
import { millrace } from '../millrace.ts';

const app = Fastify();

app.post('/emails', async (request, reply) => {
  const { data, error } = email.safeParse(request.body);
  if (error) return reply.code(400).send({ error: z.prettifyError(error) });
  return reply.code(202).send(await millrace.tasks.trigger('send-email', data));
});

console.log(await app.listen({ port: Number(process.env['PORT'] ?? 4050), host: '127.0.0.1' }));
