import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { explainListen } from './listen-failure.ts';

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** Listens and returns the error or the port. */
const listen = (port: number, host: string) =>
  new Promise<{ port: number } | NodeJS.ErrnoException>((resolve) => {
    const server = createServer();
    open.push(server);
    server.once('error', resolve);
    server.listen(port, host, () => resolve(server.address() as { port: number }));
  });

test('names the port in use and a fix', async () => {
  const { port } = (await listen(0, '127.0.0.1')) as { port: number };
  const refused = (await listen(port, '127.0.0.1')) as NodeJS.ErrnoException;
  expect(explainListen(refused, '127.0.0.1', port)).toMatch(new RegExp(`Port ${port} .* in use.*--port`));
});

test('names an address that the machine does not have', async () => {
  const refused = (await listen(0, '192.0.2.1')) as NodeJS.ErrnoException;
  expect(explainListen(refused, '192.0.2.1', 0)).toMatch(/no address 192\.0\.2\.1.*--host/);
});

test('ignores other errors', () => {
  expect(explainListen({ code: 'ENOENT', syscall: 'open' }, 'localhost', 1)).toBeUndefined();
});
