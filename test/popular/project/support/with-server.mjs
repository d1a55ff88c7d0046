import { once } from 'node:events';
import { createServer } from 'node:http';

/** Calls `use` with the address of a server that is about to listen. */
export async function listening(server, use) {
  if (!server.listening) await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The same with a server that replies JSON to everything. */
export const withServer = (use) =>
  listening(
    createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"ok":true,"data":{"ok":true}}');
    }).listen(0, '127.0.0.1'),
    use,
  );
