import type { Exchange } from '../../request.ts';
import { onWire, type Wire } from './form.ts';

export interface EventStreamOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** What says "still here", as event-stream text. */
  readonly ping: (now: number) => string;
  /** There is room again after `send` answered false. */
  readonly onDrain: () => void;
  /** It is over, however that came. Once. */
  readonly onOver: () => void;
}

export const maxUnsentBytes = 1_048_576;
export const stalledMs = 30_000;
export const maxLifeMs = 600_000;
/** A restart of clients that came together should not bring them together again. */
const lifeJitter = 0.2;

/**
 * One client's event-stream, written straight to its socket. Nothing is buffered here beyond what the socket holds: whoever writes stops
 * when told to. `end` tells the client that all is said; `break` that it should come again, which is also how the end of its credential
 * or an old age ends.
 */
export class EventStream {
  readonly wire: Wire;
  readonly #exchange: Exchange;
  readonly #options: EventStreamOptions;
  readonly #life: NodeJS.Timeout;
  readonly #release: () => void;
  #over = false;
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

  /** Writes a frame made by `onWire` for this stream's wire; false: enough for now. */
  send(frame: Buffer): boolean {
    if (this.#over) return false;
    const { socket } = this.#exchange;
    socket.write(frame);
    this.#full = socket.writableLength > maxUnsentBytes;
    return !this.#full;
  }

  end(last = ''): void {
    if (this.#over) return;
    const { socket } = this.#exchange;
    if (last !== '') socket.write(onWire(last, this.wire));
    socket.end(this.wire === 'chunks' ? '0\r\n\r\n' : '');
    // Nobody looks at it any more, and a client that does not take the rest would keep it, and a server that closes, for ever.
    socket.setTimeout(stalledMs, () => socket.destroy());
    this.#finish();
  }

  break(): void {
    if (this.#over) return;
    this.#exchange.socket.destroy();
    this.#finish();
  }

  /** Every few seconds: pings, and lets go of a client that takes nothing. */
  look(now: number): void {
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
    if (!this.#over) this.#finish();
  };

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#life);
    this.#release();
    const { socket } = this.#exchange;
    socket.off('drain', this.#drained);
    socket.off('close', this.#closed);
    this.#options.onOver();
  }
}

function headOf(headers: Readonly<Record<string, string>>, wire: Wire): string {
  const all: Record<string, string> = {
    ...headers,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    // nginx would hold events back.
    'x-accel-buffering': 'no',
    connection: 'close',
    ...(wire === 'chunks' && { 'transfer-encoding': 'chunked' }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`;
}

const pings = new Map<string, { now: number; frame: Buffer }>();

/** The same for all who are pinged in one round of the clock. */
function pingOf(text: (now: number) => string, now: number, wire: Wire): Buffer {
  const key = `${wire} ${text.name}`;
  let kept = pings.get(key);
  if (!kept || kept.now !== now) pings.set(key, (kept = { now, frame: onWire(text(now), wire) }));
  return kept.frame;
}
