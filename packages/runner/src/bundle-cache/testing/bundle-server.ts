import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Bundle } from '@millrace/contract/runner';
import { packTar, type TarEntry } from 'modern-tar';
import { onTestFinished } from 'vitest';
import type { FetchedBundle } from '../source.ts';

export const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');

/** A server with the bundles of versions, whose responses to blob requests are controlled by the test. */
export class BundleServer {
  url = '';
  secretKey = 'svc_prod_sk_000000000000000000000000';
  readonly bundles = new Map<string, FetchedBundle>();
  readonly blobs = new Map<string, Buffer>();
  /** `range` headers of blob requests, in order of arrival. */
  readonly ranges: (string | undefined)[] = [];
  /** Returns true if it has responded. */
  answer: (blob: Buffer, request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly http = createServer((request, response) => this.handle(request, response));

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => {
      this.http.listen(port, '127.0.0.1', resolve);
    });
    this.url = `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
    return this;
  }

  async close(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Adds a version with these files, and packages if there are entries of a layer. */
  async add(
    version: string,
    files: Readonly<Record<string, string>>,
    more: Partial<Bundle> & { readonly packages?: readonly TarEntry[] } = {},
  ): Promise<FetchedBundle> {
    const { packages, ...fields } = more;
    const layer = packages && Buffer.from(await packTar([...packages]));
    const bundle: FetchedBundle = {
      version,
      contentHash: sha256(JSON.stringify([files, fields, layer && sha256(layer)])),
      entries: [],
      sdk: 'sdk.mjs',
      defaults: {},
      tasks: {},
      files: Object.entries(files).map(([path, text]) => ({ path, ...this.#store(Buffer.from(text)) })),
      layers: layer ? [{ platform: 'linux-x64-glibc', ...this.#store(layer) }] : [],
      nodeMajor: 20,
      requires: [],
      ...fields,
    };
    this.bundles.set(version, bundle);
    return bundle;
  }

  #store(content: Buffer) {
    const data = gzipSync(content);
    const blob = sha256(data);
    this.blobs.set(blob, data);
    return { digest: sha256(content), size: content.length, blob, blobSize: data.length };
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const [, version = '', kind, blob = ''] =
      /^\/runner\/v1\/versions\/([^/]+)\/(bundle|blobs)(?:\/(\w+))?$/.exec(request.url ?? '') ?? [];
    const bundle = this.bundles.get(version);
    if (request.headers.authorization !== `Bearer ${this.secretKey}` || !bundle) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: `There is no version ${version}.` }));
      return;
    }
    if (kind === 'bundle') {
      response.end(JSON.stringify(bundle));
      return;
    }
    const data = this.blobs.get(blob) ?? Buffer.alloc(0);
    const { range } = request.headers;
    this.ranges.push(range);
    if (this.answer(data, request, response)) return;
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    response.writeHead(range === undefined ? 200 : 206).end(data.subarray(from));
  }
}

export async function bundleServer(): Promise<BundleServer> {
  const server = await new BundleServer().listen();
  onTestFinished(() => server.close());
  return server;
}
