/**
 * The airline, the hotel and the bank of this example, in one small server that keeps everything in memory. `npm run services` starts it.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Something that a service did, once for each idempotency key. */
export interface Deed {
  readonly id: string;
  readonly path: string;
  readonly traveler: string;
}

export interface Services {
  readonly url: string;
  /** All executed requests, in order. */
  readonly deeds: readonly Deed[];
  /** How many requests repeated something already done. */
  readonly repeated: () => number;
  close(): Promise<void>;
}

export interface ServicesOptions {
  readonly port?: number;
  /** How long a request takes before and after its action, in milliseconds. */
  readonly delayMs?: () => number;
  /** Called with each request. */
  readonly onRequest?: () => void;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

export async function startServices({
  port = 4050,
  delayMs = () => 20,
  onRequest,
}: ServicesOptions = {}): Promise<Services> {
  const deeds: Deed[] = [];
  const answers = new Map<string, { status: number; body: string }>();
  let repeated = 0;

  /** The action is atomic: a request that is cut off has either done it or not. */
  const act = (path: string, key: string, traveler: string): { status: number; body: string } => {
    const known = answers.get(key);
    if (known) {
      repeated += 1;
      return known;
    }
    const isRefused = path === '/charges' && traveler.startsWith('poor');
    const id = `${path.split('/')[1]?.slice(0, -1)}-${deeds.length + 1}`;
    if (!isRefused) deeds.push({ id, path, traveler });
    const answer = isRefused
      ? { status: 402, body: `The bank refuses ${traveler}.` }
      : { status: 200, body: JSON.stringify({ id }) };
    answers.set(key, answer);
    return answer;
  };

  const server = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const { traveler = '' } = JSON.parse(await text(request)) as { traveler?: string };
      const key = String(request.headers['idempotency-key']);
      onRequest?.();
      await pause(delayMs());
      const { status, body } = act(request.url ?? '/', key, traveler);
      await pause(delayMs());
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    };
    // The caller may have disconnected.
    serve().catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    deeds,
    repeated: () => repeated,
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startServices({
    onRequest: () => process.stdout.write('.'),
  });
  console.log(`The airline, the hotel and the bank listen on ${url}.`);
}
