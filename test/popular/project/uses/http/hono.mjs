import { Hono } from 'hono';

export default async () => {
  const app = new Hono();
  app.get('/', (context) => context.json({ ok: true }));
  return (await app.request('/')).json();
};
