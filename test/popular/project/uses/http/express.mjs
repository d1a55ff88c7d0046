import express from 'express';
import { listening } from '../../support/with-server.mjs';

export default async () => {
  const app = express();
  app.get('/', (_, response) => response.json({ ok: true }));
  return listening(app.listen(0, '127.0.0.1'), async (url) => (await fetch(url)).json());
};
