/**
 * The web server of the chat: the page, its script, and a session for each visitor. The secret key remains here; the page gets a token that
 * opens its own session and nothing else, and talks to Millrace itself.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { configure, sessions } from '@millrace/sdk';
import { build } from 'esbuild';

const { MILLRACE_URL: baseURL, MILLRACE_SECRET_KEY: accessToken, PORT = '4040' } = process.env;
if (!baseURL || !accessToken) {
  console.error('Set MILLRACE_URL and MILLRACE_SECRET_KEY; `npm run dev` prints both.');
  process.exit(1);
}
configure({ baseURL, accessToken });

const at = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const page = await readFile(at('page.html'));
const { outputFiles } = await build({
  entryPoints: [at('page.js')],
  bundle: true,
  format: 'esm',
  target: 'es2022',
  // The tsconfig.json of this repository maps packages to sources, which are for Node.js.
  tsconfigRaw: {},
  write: false,
});
const script = outputFiles[0]?.contents ?? '';

async function openChat(request: IncomingMessage): Promise<object> {
  const { chat } = JSON.parse(await text(request)) as { chat: unknown };
  if (typeof chat !== 'string' || !/^[\w-]{1,64}$/.test(chat))
    throw new Error('chat: up to 64 letters and digits');
  const externalId = `chat-${chat}`;
  // An existing chat continues with a new token.
  const { publicAccessToken: token } = await sessions.start({
    type: 'chat',
    externalId,
    taskIdentifier: 'chat',
    triggerConfig: { basePayload: {} },
  });
  return { session: externalId, token, baseURL };
}

const server = createServer((request, response) => {
  const send = (status: number, type: string, body: string | Uint8Array): void => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
  };
  if (request.method === 'POST' && request.url === '/chats') {
    openChat(request).then(
      (opened) => send(200, 'application/json', JSON.stringify(opened)),
      (error: unknown) => send(400, 'application/json', JSON.stringify({ error: String(error) })),
    );
  } else if (request.url === '/') send(200, 'text/html; charset=utf-8', page);
  else if (request.url === '/page.js') send(200, 'text/javascript; charset=utf-8', script);
  else send(404, 'text/plain', 'Not found');
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
