import fastify from 'fastify';

export default async () => {
  const app = fastify({ logger: false });
  app.get('/', async () => ({ ok: true }));
  return (await app.inject('/')).json();
};
