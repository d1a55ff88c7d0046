/**
 * The cost of a trigger in the client alone, against an HTTP server in another process that only responds.
 * Build, then: `node packages/sdk/bench/trigger.ts` (Node 24). In microseconds per call; CPU time is that of this process.
 */
import { fork } from 'node:child_process';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { configure, tasks } from '@millrace/sdk';

const reply = '{"id":"run_abcdefghijklmnopqrstu","isCached":false}';

function serve(): void {
  const server = http.createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { items } = JSON.parse(text) as { items?: unknown[] };
      const body = items ? `{"results":[${items.map(() => reply).join(',')}]}` : reply;
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        .end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function measure(name: string, callers: number, calls: number): Promise<void> {
  const each = Math.ceil(calls / callers);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (let call = 0; call < each; call += 1)
        await tasks.trigger('t', { call, name: 'hello', list: [1, 2, 3] });
    }),
  );
  const wall = ((performance.now() - startedAt) * 1_000) / (each * callers);
  const { user, system } = process.cpuUsage(cpu);
  console.log(`${name}: ${wall.toFixed(1)} µs, CPU ${((user + system) / (each * callers)).toFixed(1)} µs`);
}

if (process.argv[2] === 'serve') serve();
else {
  const server = fork(import.meta.filename, ['serve']);
  const port = await new Promise<number>((resolve) =>
    server.once('message', (message) => resolve(message as number)),
  );
  configure({ baseURL: `http://127.0.0.1:${port}`, secretKey: 'svc_dev_sk_abcdefghijklmnopqrstuvwx' });
  for (let round = 1; round <= 3; round += 1) {
    console.log(`round ${round}`);
    await measure('one caller, one request per call', 1, 5_000);
    await measure('32 callers, calls of a tick together', 32, 50_000);
    await measure('128 callers, calls of a tick together', 128, 50_000);
  }
  server.kill();
}
