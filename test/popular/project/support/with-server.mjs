import { once } from 'node:events';
import { createServer } from 'node:http';

/** Calls `use` with the URL of a server, once it listens. */
export async function listening(server, use) {
  if (!server.listening) await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Calls `use` with the URL of a server that returns JSON for every request. */
export const withServer = (use) =>
  listening(
    createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true,"data":{"ok":true}}');
    }).listen(0, '127.0.0.1'),
    use,
  );
