import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { StoreFailed, StoreRefused, type BlobStore } from './store.ts';

/** An S3-compatible store. */
export interface S3Settings {
  readonly bucket: string;
  /** The key prefix, without slashes at its ends; empty for none. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** The address of a store other than Amazon's, such as `https://minio.example.com:9000`. */
  readonly endpoint?: string | undefined;
  /** Whether the bucket is in the path instead of the host name. */
  readonly pathStyle: boolean;
}

/** Timeout in milliseconds for a request and its response. */
const requestMs = 15_000;
/** Timeout in milliseconds for uploading all bytes. */
const putMs = 15 * 60_000;
const emptyDigest = createHash('sha256').digest('hex');

interface RequestOptions {
  readonly digest?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ReadableStream;
  readonly signal: AbortSignal;
}

type Request = (method: string, key: string, options: RequestOptions) => Promise<Response>;

/**
 * Opens a store. Writes, reads and deletes a small object, so that a missing bucket or permission is detected before any deployment, and
 * rejects with a StoreRefused if that fails. Calls `onAway` for a store that does not respond, which may become available later.
 * @param setting the variable or option with the address, for messages
 */
export async function openS3Store(
  settings: S3Settings,
  onAway: (why: string) => void,
  setting = 'MILLRACE_BUNDLE_STORE',
): Promise<BlobStore> {
  const { bucket, prefix } = settings;
  const name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
  const request = await requestsTo(settings);
  const store = storeOf(name, request);
  try {
    await probe(store);
  } catch (error) {
    if (!(error instanceof Refusal)) onAway((error as Error).message);
    else if (error.code === 'NoSuchBucket')
      throw new StoreRefused(
        `${setting}: no bucket "${bucket}" at ${originOf(settings)}. Create it, or use another bucket.`,
      );
    else
      throw new StoreRefused(
        `${setting}: ${name} rejected a test object: ${error.detail}. The credentials need permission to put, get and delete objects there.`,
      );
  }
  return store;
}

/** The store permanently rejects the request. */
class Refusal extends StoreFailed {
  readonly code: string;
  readonly detail: string;

  constructor(name: string, status: number, code: string, message: string) {
    const detail = `${status} ${[code, message].filter((text) => text !== '').join(': ')}`;
    super(`The store ${name} responded with ${detail}`);
    this.code = code;
    this.detail = detail;
  }
}

function storeOf(name: string, request: Request): BlobStore {
  const within = (ms: number): AbortSignal => AbortSignal.timeout(ms);
  /** Sends a request and reads a response without content. */
  const done = async (
    method: string,
    key: string,
    options: RequestOptions,
    missing?: number,
  ): Promise<boolean> => {
    const response = await request(method, key, options).catch((error: unknown) => {
      throw away(name, error);
    });
    if (response.ok || response.status === missing) {
      await response.body?.cancel();
      return response.ok;
    }
    throw await failureOf(name, response);
  };
  return {
    name,
    async put(key, size, digest, bytes) {
      // An error of the source is thrown unchanged, because the store did not cause it.
      let failed: unknown;
      const watched = (async function* watch() {
        try {
          yield* bytes;
        } catch (error) {
          failed = error;
          throw error;
        }
      })();
      const body = Readable.toWeb(Readable.from(watched)) as ReadableStream;
      const headers = { 'content-length': String(size), 'content-type': 'application/gzip' };
      try {
        await done('PUT', key, { digest, headers, body, signal: within(putMs) });
      } catch (error) {
        throw failed ?? error;
      }
    },
    async read(key, start, size) {
      const silence = new Silence(requestMs);
      const options = { ...(start > 0 && { headers: { range: `bytes=${start}-` } }), signal: silence.signal };
      try {
        const response = await request('GET', key, options);
        if (!response.ok || !response.body) throw await failureOf(name, response);
        const expected = size === undefined ? undefined : size - start;
        const announced = Number(response.headers.get('content-length') ?? expected);
        if (expected !== undefined && announced !== expected)
          throw new StoreFailed(`The store ${name} has ${announced} bytes of ${key}, not ${expected}`);
        return partsOf(name, response.body as ReadableStream<Uint8Array>, silence);
      } catch (error) {
        silence.end();
        throw away(name, error);
      }
    },
    has: (key) => done('HEAD', key, { signal: within(requestMs) }, 404),
    async delete(key) {
      await done('DELETE', key, { signal: within(requestMs) }, 404);
    },
  };
}

/** The body of a response. The time limit applies only to the store; the reader may pause. */
async function* partsOf(
  name: string,
  body: ReadableStream<Uint8Array>,
  silence: Silence,
): AsyncGenerator<Buffer> {
  try {
    for await (const part of body) {
      silence.pause();
      yield Buffer.from(part.buffer, part.byteOffset, part.byteLength);
      silence.begin();
    }
  } catch (error) {
    throw away(name, error);
  } finally {
    silence.end();
  }
}

/** Ends a request whose server sends nothing for some time. */
class Silence {
  readonly #abort = new AbortController();
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
    this.begin();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  begin(): void {
    this.#timer = setTimeout(
      () => this.#abort.abort(new Error(`nothing for ${this.#ms / 1_000} s`)),
      this.#ms,
    );
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Also called when the reader stops early. */
  end(): void {
    this.pause();
    this.#abort.abort();
  }
}

async function probe(store: BlobStore): Promise<void> {
  const content = Buffer.from('Millrace wrote this object to test its access.\n');
  const key = `.test-${randomBytes(8).toString('hex')}`;
  const digest = createHash('sha256').update(content).digest('hex');
  await store.put(key, content.length, digest, Readable.from([content]));
  for await (const part of await store.read(key, 1, content.length)) void part;
  await store.delete(key);
}

/** Loads the library here, because most installations have no such store. */
async function requestsTo(settings: S3Settings): Promise<Request> {
  const { AwsV4Signer } = await import('aws4fetch');
  const { prefix, region, accessKeyId, secretAccessKey, sessionToken } = settings;
  const base = baseOf(settings);
  return async (method, key, { digest = emptyDigest, headers = {}, body, signal }) => {
    const path = [...(prefix === '' ? [] : [prefix]), key].join('/');
    const signer = new AwsV4Signer({
      method,
      url: `${base}/${path.split('/').map(encodeURIComponent).join('/')}`,
      // The signed digest, which the store compares with the received bytes.
      headers: { 'x-amz-content-sha256': digest },
      service: 's3',
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
    });
    const signed = await signer.sign();
    return fetch(signed.url, {
      method,
      headers: { ...Object.fromEntries(signed.headers), ...headers },
      redirect: 'manual',
      signal,
      ...(body && { body, duplex: 'half' }),
    });
  };
}

function originOf({ endpoint, region }: S3Settings): string {
  return endpoint ?? `https://s3.${region}.amazonaws.com`;
}

export function baseOf(settings: S3Settings): string {
  const url = new URL(originOf(settings));
  const path = url.pathname.replace(/\/+$/, '');
  return settings.pathStyle
    ? `${url.origin}${path}/${settings.bucket}`
    : `${url.protocol}//${settings.bucket}.${url.host}${path}`;
}

/** Statuses that indicate a temporary failure. */
const transient = new Set([408, 425, 429]);

async function failureOf(name: string, response: Response): Promise<StoreFailed> {
  const text = await response.text().catch(() => '');
  const element = (tag: string): string => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1] ?? '';
  const { status } = response;
  const refusal = new Refusal(name, status, element('Code'), element('Message').slice(0, 300));
  return status < 500 && !transient.has(status) ? refusal : new StoreFailed(refusal.message);
}

function away(name: string, error: unknown): StoreFailed {
  if (error instanceof StoreFailed) return error;
  const { message, cause } = error as Error;
  const why = cause instanceof Error ? `${message} (${cause.message})` : message;
  return new StoreFailed(`The store ${name} does not respond: ${why}`, { cause: error });
}
