import { setTimeout as sleep } from 'node:timers/promises';
import type { ZodType } from 'zod';

/** An installation to read through its public API. */
export interface Source {
  /** Without a trailing slash. */
  readonly url: string;
  /** Sent as a header with each request. */
  readonly branch?: string;
  /** Called with a message for each longer wait. */
  readonly onWait: (sentence: string) => void;
}

/** The source did not respond, or it rejected the credential. */
export class SourceUnreachable extends Error {
  override readonly name = 'SourceUnreachable';
}

/** The source's response is not usable for an import. */
export class SourceRefused extends Error {
  override readonly name = 'SourceRefused';
  readonly status: number;

  constructor(status: number, sentence: string) {
    super(sentence);
    this.status = status;
  }
}

export interface Question<T> {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A personal access token or a secret key. */
  readonly credential: string;
  readonly reply: ZodType<T>;
}

const timeoutMs = 30_000;
const maxAttempts = 3;
/** Maximum time that one request waits for a rate limit. */
const maxWaitMs = 120_000;

/** Sends a read request. Waits for rate limits and retries temporary failures. */
export async function askSource<T>(source: Source, question: Question<T>): Promise<T> {
  let waitedMs = 0;
  for (let attempt = 1; ; attempt++) {
    const response = await send(source, question).catch((error: unknown) => {
      if (attempt < maxAttempts) return undefined;
      const { cause = error } = error as Error;
      throw new SourceUnreachable(`Cannot reach ${source.url}: ${(cause as Error).message}`);
    });
    if (response?.status === 429) {
      const delayMs = limitDelayMs(response.headers, Date.now()) ?? 1_000 * attempt;
      waitedMs += delayMs;
      const seconds = Math.ceil(delayMs / 1_000);
      if (waitedMs > maxWaitMs)
        throw new SourceRefused(
          429,
          `${source.url} limits the request rate. Run the command again in ${seconds} s.`,
        );
      source.onWait(`${source.url} limits the request rate: continuing in ${seconds} s.`);
      await sleep(delayMs);
    } else if (response === undefined || (response.status >= 500 && attempt < maxAttempts)) {
      await sleep(250 * 2 ** attempt);
    } else return readReply(source, question, response);
  }
}

function send(
  { url, branch }: Source,
  { path, query = {}, credential }: Question<unknown>,
): Promise<Response> {
  const search = new URLSearchParams(query).toString();
  return fetch(`${url}${path}${search === '' ? '' : `?${search}`}`, {
    headers: {
      authorization: `Bearer ${credential}`,
      accept: 'application/json',
      // Without this header, runs have the old status names.
      'x-trigger-api-version': '2025-07-16',
      ...(branch !== undefined && { 'x-trigger-branch': branch }),
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
}

/** Milliseconds to wait according to a 429 response; undefined if it does not contain a time. */
export function limitDelayMs(headers: Headers, now: number): number | undefined {
  const after = headers.get('retry-after');
  if (after !== null) {
    const ms = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - now;
    if (Number.isFinite(ms)) return Math.max(ms, 0);
  }
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
  return reset > now ? reset - now : undefined;
}

async function readReply<T>(source: Source, { path, reply }: Question<T>, response: Response): Promise<T> {
  const { status } = response;
  const members = await response.json().catch(() => undefined);
  if (response.ok) {
    const read = reply.safeParse(members);
    if (read.success) return read.data;
    throw new SourceRefused(
      502,
      `${source.url}${path} is not an API of the published SDK. Check the address.`,
    );
  }
  if (status >= 300 && status < 400)
    throw new SourceRefused(
      502,
      `${source.url} redirects to ${response.headers.get('location')}: use that address.`,
    );
  const text = (members as { error?: unknown } | null | undefined)?.error;
  const sentence = `${status} ${typeof text === 'string' ? text : response.statusText}`.trim();
  if (status === 401)
    throw new SourceUnreachable(
      `${source.url} rejected the credential (${sentence}). Use a personal access token of that installation, or the secret key of the environment.`,
    );
  throw new SourceRefused(status, `${source.url}${path}: ${sentence}`);
}
