import { connect, type Socket } from 'node:net';
import { Redis } from 'ioredis';

/** Called with the number in a record, once for each subscriber that gets it. */
export type OnRecord = (n: number) => void;

/** A system with subscribers. */
export interface Subscribed {
  close(): void;
}

/** Event streams over separate sockets. Only the fields that distinguish records are read. */
export async function subscribeByHttp(
  port: number,
  secretKey: string,
  path: string | ((n: number) => string),
  count: number,
  onRecord: OnRecord,
): Promise<Subscribed> {
  const sockets: Socket[] = [];
  for (let from = 0; from < count; from += 200) {
    await Promise.all(
      Array.from({ length: Math.min(200, count - from) }, async (_, index) => {
        const socket = connect(port, '127.0.0.1');
        sockets.push(socket);
        const address = typeof path === 'string' ? path : path(from + index);
        socket.setNoDelay(true);
        socket.write(
          `GET ${address} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secretKey}\r\ntimeout-seconds: 600\r\n\r\n`,
        );
        let rest = '';
        await new Promise<void>((resolve, reject) => {
          socket.once('error', reject);
          socket.on('data', (chunk: Buffer) => {
            const text = rest + chunk.toString('latin1');
            if (text.startsWith('HTTP/1.1 200')) resolve();
            // The benchmark's records contain `#<number>#`, which may be split between two chunks.
            let at = 0;
            for (;;) {
              const begin = text.indexOf('#', at);
              const end = begin === -1 ? -1 : text.indexOf('#', begin + 1);
              if (end === -1) break;
              onRecord(Number(text.slice(begin + 1, end)));
              at = end + 1;
            }
            const open = text.indexOf('#', at);
            rest = open === -1 ? '' : text.slice(open);
          });
        });
        socket.on('error', () => undefined);
      }),
    );
  }
  return {
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Blocking reads over connections of their own, from the end of the stream on. */
export async function subscribeByRedis(
  path: string,
  stream: string,
  count: number,
  onRecord: OnRecord,
): Promise<Subscribed> {
  const clients: Redis[] = [];
  let open = true;
  for (let from = 0; from < count; from += 200) {
    await Promise.all(
      Array.from({ length: Math.min(200, count - from) }, async () => {
        const client = new Redis({ path, retryStrategy: null });
        client.on('error', () => undefined);
        clients.push(client);
        await client.ping();
        const read = async (): Promise<void> => {
          let last = '$';
          while (open) {
            const answer = await client.xread('BLOCK', 0, 'STREAMS', stream, last);
            for (const [id, fields] of answer?.[0]?.[1] ?? []) {
              last = id;
              onRecord(Number((fields[1] ?? '').split('#')[1]));
            }
          }
        };
        void read().catch(() => undefined);
      }),
    );
  }
  // The last of them is in its first blocking read by then.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return {
    close() {
      open = false;
      for (const client of clients) client.disconnect();
    },
  };
}
