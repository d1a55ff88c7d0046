import {
  installation,
  sharedInstallation,
  type Answer,
  type Installation,
  type SharedInstallation,
} from '../../../../../test/access/installation.ts';
import type { ServerOptions } from '../../server.ts';
import { promote } from '../../../../../test/support/promote.ts';

export interface Item {
  readonly index: number;
  readonly task?: string;
  readonly payload?: unknown;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface BatchServer extends SharedInstallation {
  /** Returns the id of an open batch. */
  open(body: Readonly<Record<string, unknown>>, key?: string): Promise<string>;
  /** Sends items, or raw lines, as a stream without a length. */
  fill(batch: string, items: readonly (Item | string)[], key?: string): Promise<Answer>;
  retrieve(batch: string): Promise<Answer>;
  /** Payloads of the batch's runs, in batch order. */
  payloads(batch: string): Promise<unknown[]>;
  register(...tasks: string[]): Promise<void>;
}

export const lineOf = (item: Item | string): string =>
  typeof item === 'string' ? item : JSON.stringify({ task: 'send', payload: item.index, ...item });

/** Pieces of a body that do not end at line breaks. */
export function streamOf(text: string, pieceLength = 4_096): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, (at += pieceLength)));
    },
  });
}

let contents = 0;

/** Uses the server of this worker. */
export const batchServer = async (): Promise<BatchServer> => withBatches(await sharedInstallation());

/** Uses a separate server. */
export const ownBatchServer = async (
  options: Partial<ServerOptions> = {},
): Promise<BatchServer & Installation> => withBatches(await installation(options));

function withBatches<Installed extends SharedInstallation>(installed: Installed): Installed & BatchServer {
  const { ask, keys, server, sql } = installed;
  return {
    ...installed,
    async open(body, key = keys.prod) {
      const opened = await ask('POST /api/v3/batches', { key, body });
      if (opened.status >= 300) throw new Error(`${opened.status} ${JSON.stringify(opened.body)}`);
      return opened.body.id;
    },
    async fill(batch, items, key = keys.prod) {
      const response = await fetch(`${server.url}/api/v3/batches/${batch}/items`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' },
        body: streamOf(items.map((item) => `${lineOf(item)}\n`).join('')),
        duplex: 'half',
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
    retrieve: (batch) => ask(`GET /api/v2/batches/${batch}`, { key: keys.prod }),
    async payloads(batch) {
      const rows = await sql<{ payload: string | null }[]>`
        select r.payload from batches b, batch_runs(b.env, b.id) with ordinality as m (run_id, cached, position)
          join runs r on r.id = m.run_id where b.id = ${batch} order by m.position`;
      return rows.map((row) => row.payload && JSON.parse(row.payload));
    },
    async register(...tasks) {
      const { status, body } = await ask('POST /runner/v1/versions', {
        key: keys.prod,
        body: {
          contentHash: `content-${++contents}`,
          tasks: tasks.map((id) => ({ id, filePath: 'tasks.ts' })),
        },
      });
      if (status !== 200) throw new Error(JSON.stringify(body));
      await promote(server.url, keys.prod);
    },
  };
}
