import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { HostCall, HostCalls, HostReply, HostRequest } from '../host/protocol.ts';

interface Waiting {
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The connection to the host. It keeps the process alive only while a call waits for its reply. */
export class Channel {
  readonly #socket: Socket;
  readonly #token: string;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #isClosed = false;

  constructor(socket: Socket, token: string) {
    this.#socket = socket;
    this.#token = token;
    socket.unref();
    socket.on('error', () => undefined);
    socket.on('close', () => this.#end());
    createInterface(socket).on('line', (line) => this.#receive(JSON.parse(line) as HostReply));
  }

  call<K extends HostCall>(call: K, input: HostCalls[K]['input']): Promise<HostCalls[K]['reply']> {
    const id = ++this.#count;
    const request: HostRequest = { id, token: this.#token, call, input };
    return new Promise<unknown>((resolve, reject) => {
      if (this.#isClosed) return reject(new HostLost());
      this.#waiting.set(id, { resolve, reject });
      this.#socket.ref();
      this.#socket.write(`${JSON.stringify(request)}\n`);
    }) as Promise<HostCalls[K]['reply']>;
  }

  close(): void {
    this.#socket.end();
    this.#socket.destroySoon();
  }

  #receive(message: HostReply): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (this.#waiting.size === 0) this.#socket.unref();
    if ('error' in message) waiting?.reject(new Error(`The engine of the tests failed: ${message.error}`));
    else waiting?.resolve(message.reply);
  }

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(new HostLost());
    this.#waiting.clear();
  }
}

/** The connection is closed. */
export class HostLost extends Error {
  override readonly name = 'HostLost';

  constructor() {
    super(
      'The connection to the engine of the tests is closed: the kit was closed, or its process has ended (see host.log in its folder).',
    );
  }
}
