import type { Exchange } from '../../request.ts';
import { onWire, type Wire } from './wire.ts';

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** A keep-alive, as event-stream text. */
  readonly ping: (now: number) => string;
  /** Called when writing can continue after `send` returned false. */
  readonly onDrain: () => void;
  /** Called once when the stream has ended, for any reason. */
  readonly onEnded: () => void;
}

export const maxUnsentBytes = 1_048_576;
export const stalledMs = 30_000;
export const maxLifeMs = 600_000;
/** Clients that connected together should not all reconnect together. */
const lifeJitter = 0.2;

/**
 * The event stream of one client, written straight to its socket. Only the socket buffers data; the writer stops when `send` returns false.
 * `end` signals that the stream is complete. `break` makes the client reconnect, as do the expiry of its credential and the maximum age.
 */
export class EventStream {
  readonly wire: Wire;
  readonly #exchange: Exchange;
  readonly #options: EventStreamOptions;
  readonly #life: NodeJS.Timeout;
  readonly #release: () => void;
  #hasEnded = false;
  #full = false;
  #sent = 0;
  #sentAt = Date.now();

  constructor(exchange: Exchange, options: EventStreamOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.wire = exchange.isHttp10 ? 'plain' : 'chunks';
    const { socket } = exchange;
    const life = maxLifeMs * (1 - lifeJitter * Math.random());
    this.#life = setTimeout(() => this.break(), life);
    this.#life.unref();
    this.#release = exchange.whileAllowed(() => this.break());
    socket.setNoDelay(true);
    socket.setTimeout(0);
    socket.on('drain', this.#drained);
    socket.once('close', this.#closed);
    socket.once('error', this.#closed);
    socket.write(headOf({ ...exchange.headers, ...options.headers }, this.wire));
    if (socket.destroyed) queueMicrotask(this.#closed);
  }

  /** Writes a frame made by `onWire` for this stream's wire. False: wait for `onDrain`. */
  send(frame: Buffer): boolean {
    if (this.#hasEnded) return false;
    const { socket } = this.#exchange;
    socket.write(frame);
    this.#full = socket.writableLength > maxUnsentBytes;
    return !this.#full;
  }

  end(last = ''): void {
    if (this.#hasEnded) return;
    const { socket } = this.#exchange;
    if (last !== '') socket.write(onWire(last, this.wire));
    socket.end(this.wire === 'chunks' ? '0\r\n\r\n' : '');
    // `check` is no longer called. A client that does not read the rest must not keep the socket, or a closing server, open forever.
    socket.setTimeout(stalledMs, () => socket.destroy());
    this.#finish();
  }

  break(): void {
    if (this.#hasEnded) return;
    this.#exchange.socket.destroy();
    this.#finish();
  }

  /** Call this every few seconds. Sends a ping and breaks the stream of a client that reads nothing. */
  check(now: number): void {
    const { socket } = this.#exchange;
    const sent = socket.bytesWritten - socket.writableLength;
    if (sent !== this.#sent || socket.writableLength === 0) {
      this.#sent = sent;
      this.#sentAt = now;
    } else if (now - this.#sentAt >= stalledMs) return this.break();
    if (socket.writableLength === 0) socket.write(pingOf(this.#options.ping, now, this.wire));
  }

  readonly #drained = (): void => {
    if (!this.#full) return;
    this.#full = false;
    this.#options.onDrain();
  };

  readonly #closed = (): void => {
    if (!this.#hasEnded) this.#finish();
  };

  #finish(): void {
    this.#hasEnded = true;
    clearTimeout(this.#life);
    this.#release();
    const { socket } = this.#exchange;
    socket.off('drain', this.#drained);
    socket.off('close', this.#closed);
    this.#options.onEnded();
  }
}

function headOf(headers: Readonly<Record<string, string>>, wire: Wire): string {
  const all: Record<string, string> = {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // Otherwise nginx would buffer events.
    'x-accel-buffering': 'no',
    connection: 'close',
    ...(wire === 'chunks' && { 'transfer-encoding': 'chunked' }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`;
}

const pings = new Map<string, { now: number; frame: Buffer }>();

/** The frame is shared by all streams checked in one tick. */
function pingOf(text: (now: number) => string, now: number, wire: Wire): Buffer {
  const key = `${wire} ${text.name}`;
  let last = pings.get(key);
  if (!last || last.now !== now) pings.set(key, (last = { now, frame: onWire(text(now), wire) }));
  return last.frame;
}
