import type { IncomingMessage } from 'node:http';
import { maxFrameBytes } from '@millrace/contract/runner';
import type { RunnerMessage, ServerMessage } from '@millrace/contract/runner';
import { WebSocket } from 'ws';
import { credentialHeaders } from './credential-headers.ts';

export type Hello = Extract<RunnerMessage, { type: 'hello' }>;
export type Welcome = Extract<ServerMessage, { type: 'welcome' }>;
export type ConnectionState = 'connecting' | 'connected' | 'disconnected' | 'refused';

export interface ConnectionOptions {
  /** The server's address, http or https. */
  readonly url: string;
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  readonly hello: () => Hello;
  /** Whether the runner holds attempts. If so, a dead connection must be noticed before the server gives them to another runner. Default: never. */
  readonly isBusy?: () => boolean;
  readonly onWelcome: (welcome: Welcome) => void;
  readonly onMessage: (message: Exclude<ServerMessage, { type: 'welcome' | 'refused' }>) => void;
  readonly onState: (state: ConnectionState, detail?: string) => void;
  /** No message arrived from the server for the duration of a lease, so held attempts may be running elsewhere. */
  readonly onLeasesLost: () => void;
  /** The server rejected this runner; it does not reconnect. */
  readonly onRefused: (error: Error) => void;
}

const firstWait = 50;
const maxWait = 5_000;
/**
 * Interval of pings while the runner is busy. If the network reset only the server's end, the runner notices when it sends something. Less than
 * the time in which the server expects it back (`graceMs` of the server's lease times).
 */
const probeMs = 1_000;

/** The runner's connection. Reconnects whenever it is lost. */
export class Connection {
  readonly #options: ConnectionOptions;
  #socket: WebSocket | undefined;
  #welcomed = false;
  #closed = false;
  #failures = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #heartbeatTimer: NodeJS.Timeout | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  #lastMessageAt = 0;
  #openedAt = 0;
  #leasesLost = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#open();
  }

  /** Returns false when there is no connection. */
  send(message: RunnerMessage): boolean {
    if (!this.#welcomed || this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Gives up for this reason, as if the server had rejected this runner. */
  refuse(reason: string): void {
    this.#refused(reason);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    clearInterval(this.#heartbeatTimer);
    clearInterval(this.#probeTimer);
    this.#socket?.close(1000);
    // An unresponsive peer must not keep the process alive.
    setTimeout(() => this.#socket?.terminate(), 1_000).unref();
  }

  #open(): void {
    const { url, hello, onState } = this.#options;
    this.#openedAt = performance.now();
    onState('connecting');
    const address = `${url.replace(/\/+$/, '').replace(/^http/, 'ws')}/runner/v1/connect`;
    const socket = new WebSocket(address, {
      headers: credentialHeaders(this.#options),
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      handshakeTimeout: 10_000,
    });
    this.#socket = socket;
    let trouble = 'the connection was closed';
    socket.on('open', () => socket.send(JSON.stringify(hello())));
    socket.on('message', (data) => this.#receive(JSON.parse((data as Buffer).toString()) as ServerMessage));
    // The server's pings count too, because it may not read ours for a while.
    socket.on('ping', () => this.#markAlive());
    socket.on('pong', () => this.#markAlive());
    socket.on('error', (error) => {
      trouble = error.message || String((error as NodeJS.ErrnoException).code);
    });
    socket.on('unexpected-response', (request, response) => {
      const status = response.statusCode ?? 0;
      trouble = `the server responded with ${status}`;
      if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
        void messageOf(response).then((message) => {
          request.destroy();
          this.#refused(refusalOf(status, url, message));
        });
      } else {
        request.destroy();
        this.#lost(socket, trouble);
      }
    });
    socket.on('close', () => this.#lost(socket, trouble));
  }

  #receive(message: ServerMessage): void {
    this.#markAlive();
    if (message.type === 'welcome') {
      this.#welcomed = true;
      this.#failures = 0;
      this.#beat(message);
      this.#probe();
      this.#options.onState('connected');
      this.#options.onWelcome(message);
    } else if (message.type === 'refused') {
      if (!message.retry) this.#refused(message.reason);
    } else this.#options.onMessage(message);
  }

  #markAlive(): void {
    this.#lastMessageAt = performance.now();
    this.#leasesLost = false;
  }

  /** Runs while disconnected too, because leases expire then. */
  #beat({ heartbeatMs, leaseMs }: Welcome): void {
    clearInterval(this.#heartbeatTimer);
    this.#heartbeatTimer = setInterval(
      () => {
        const now = performance.now();
        const silent = now - this.#lastMessageAt;
        if (silent > leaseMs && !this.#leasesLost) {
          this.#leasesLost = true;
          this.#options.onLeasesLost();
        }
        // A new connection attempt starts with a new time limit.
        if (Math.min(silent, now - this.#openedAt) > Math.max(2 * heartbeatMs, leaseMs / 2))
          this.#socket?.terminate();
        else if (this.send({ type: 'heartbeat', at: Date.now() })) this.#socket?.ping();
      },
      Math.min(heartbeatMs, leaseMs / 3),
    );
  }

  #probe(): void {
    clearInterval(this.#probeTimer);
    this.#probeTimer = setInterval(() => {
      if (this.#socket?.readyState === WebSocket.OPEN && this.#options.isBusy?.()) this.#socket.ping();
    }, probeMs);
  }

  #lost(socket: WebSocket, trouble: string): void {
    if (this.#socket !== socket || this.#closed) return;
    this.#socket = undefined;
    this.#welcomed = false;
    this.#options.onState('disconnected', trouble);
    const wait = Math.min(maxWait, firstWait * 2 ** this.#failures) * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => this.#open(), wait);
  }

  #refused(reason: string): void {
    if (this.#closed) return;
    this.close();
    this.#options.onState('refused', reason);
    this.#options.onRefused(new Error(reason));
  }
}

const maxReplyLength = 10_000;
const replyMs = 5_000;

/** The server's message; undefined for a response from a different server, or one that does not end. */
async function messageOf(reply: IncomingMessage): Promise<string | undefined> {
  let text = '';
  const timer = setTimeout(() => reply.destroy(), replyMs);
  try {
    for await (const chunk of reply) {
      text += String(chunk);
      if (text.length > maxReplyLength) return undefined;
    }
    const { error } = Object(JSON.parse(text)) as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function refusalOf(status: number, url: string, message: string | undefined): string {
  if (status === 401 || status === 403) {
    // The key may be valid, but the branch may be unknown or a permission missing.
    if (message !== undefined && !message.startsWith('Invalid'))
      return `${url} does not accept this runner (${status}): ${message}`;
    return `${url} does not accept this secret key for running tasks (${status}). Check MILLRACE_SECRET_KEY.`;
  }
  return `${url} is not a Millrace server that accepts runners (status ${status}). Check MILLRACE_API_URL.`;
}
