/** Sends batches over HTTP as a client does: opened, then streamed as NDJSON in one upload. */
import { Agent, request } from 'node:http';
import type { Address } from './system.ts';

export interface Item {
  readonly task: string;
  readonly payload: unknown;
  readonly options?: object;
}

export class Feeder {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #url: string;
  readonly #key: string;

  constructor({ url, key }: Address) {
    this.#url = url ?? '';
    this.#key = key ?? '';
  }

  /** Triggers all items in one batch. */
  async batch(items: readonly Item[]): Promise<void> {
    const { id } = await this.post<{ id: string }>('/api/v3/batches', { runCount: items.length });
    const lines = items.map((item, index) => JSON.stringify({ index, ...item }));
    const { sealed } = await this.#send<{ sealed: boolean }>(
      `/api/v3/batches/${id}/items`,
      'application/x-ndjson',
      `${lines.join('\n')}\n`,
    );
    if (!sealed) throw new Error(`The batch ${id} was not sealed.`);
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.#send<T>(path, 'application/json', JSON.stringify(body));
  }

  close(): void {
    this.#agent.destroy();
  }

  #send<T>(path: string, type: string, body: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#key}`,
        'content-type': type,
        'content-length': Buffer.byteLength(body),
      };
      const outgoing = request(
        new URL(path, this.#url),
        { method: 'POST', headers, agent: this.#agent },
        (incoming) => {
          const pieces: Buffer[] = [];
          incoming.on('data', (piece: Buffer) => pieces.push(piece));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(pieces).toString();
            if ((incoming.statusCode ?? 0) < 300) resolve(JSON.parse(text) as T);
            else reject(new Error(`${path}: ${incoming.statusCode} ${text.slice(0, 300)}`));
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}
