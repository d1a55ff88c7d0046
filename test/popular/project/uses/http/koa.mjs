import Koa from 'koa';
import { listening } from '../../support/with-server.mjs';

export default async () => {
  const app = new Koa();
  app.use((context) => (context.body = { ok: true }));
  return listening(app.listen(0, '127.0.0.1'), async (url) => (await fetch(url)).json());
};
