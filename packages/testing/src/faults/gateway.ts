import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { attemptMarker } from '@millrace/contract/runner';

/** A request on its way from the SDK to the engine. */
export interface Passing {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly body: string;
  /** The fence of the attempt whose code sends it; undefined for code of a test. */
  readonly fence: number | undefined;
}

/** A request's fault: the connection breaks before the request arrives or after it was handled, and then `act` is called. */
export interface Break {
  readonly at: 'request' | 'reply';
  act?(): void;
}

interface Open {
  readonly passing: Passing;
  readonly response: ServerResponse;
}

/**
 * Represents the network between the SDK and the engine. Requests and replies pass unchanged, unless a fault was requested. Faults happen here,
 * so that neither side is changed.
 */
export class Gateway {
  readonly #upstream: URL;
  readonly #breakOf: (passing: Passing) => Break | undefined;
  readonly #isGone: (fence: number) => boolean;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #open = new Set<Open>();
  readonly #watching = new Set<(passing: Passing) => void>();
  readonly #server = createServer((request, response) => {
    this.#pass(request, response).catch(() => response.destroy());
  });

  constructor(
    upstream: string,
    faults: {
      readonly breakOf: (passing: Passing) => Break | undefined;
      /** Whether the process of the attempt with this fence counts as dead, so that nothing from it arrives any longer. */
      readonly isGone: (fence: number) => boolean;
    },
  ) {
    this.#upstream = new URL(upstream);
    this.#breakOf = faults.breakOf;
    this.#isGone = faults.isGone;
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#server.unref();
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Records requests of the test's own code that are in progress, and new ones until the returned function is called, which returns them. */
  watch(): () => string[] {
    const noted = [...this.#open].flatMap(({ passing }) => ofTest(passing));
    const note = (passing: Passing): void => void noted.push(...ofTest(passing));
    this.#watching.add(note);
    return () => {
      this.#watching.delete(note);
      return noted;
    };
  }

  /** Breaks the connections of attempts whose process is gone. */
  breakOff(): void {
    for (const { passing, response } of this.#open) if (this.#isOfGone(passing)) response.destroy();
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
  }

  #isOfGone({ fence }: Passing): boolean {
    return fence !== undefined && this.#isGone(fence);
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const passing: Passing = {
      method: request.method ?? 'GET',
      path: (request.url ?? '').split('?')[0] ?? '',
      body: body.toString(),
      fence: fenceOf(request.headers.authorization),
    };
    const open = { passing, response };
    this.#open.add(open);
    for (const note of this.#watching) note(passing);
    response.on('close', () => this.#open.delete(open));
    if (this.#isOfGone(passing)) {
      response.destroy();
      return;
    }
    const fault = this.#breakOf(passing);
    if (fault?.at === 'request') {
      fault.act?.();
      response.destroy();
      return;
    }
    const forwarded = send({
      agent: this.#agent,
      hostname: this.#upstream.hostname,
      port: this.#upstream.port,
      method: passing.method,
      path: request.url,
      headers: { ...request.headers, connection: 'keep-alive' },
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    forwarded.end(body);
    const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
    if (fault) {
      await buffer(reply);
      fault.act?.();
      response.destroy();
      return;
    }
    const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...headers } = reply.headers;
    response.writeHead(reply.statusCode ?? 502, headers);
    // A stream of events must arrive immediately.
    response.flushHeaders();
    reply.pipe(response);
    reply.on('error', () => response.destroy());
  }
}

/** Reads are ignored: a subscription may be open for as long as the test file. */
const ofTest = ({ fence, method, path }: Passing): string[] =>
  fence === undefined && method !== 'GET' ? [`${method} ${path}`] : [];

function fenceOf(authorization: string | undefined): number | undefined {
  const start = `Bearer ${attemptMarker}`;
  if (!authorization?.startsWith(start)) return undefined;
  const claims = authorization.slice(start.length).split('.')[1] ?? '';
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { fence: number }).fence;
}
