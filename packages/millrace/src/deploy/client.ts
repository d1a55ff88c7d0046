import { setTimeout } from 'node:timers/promises';
import type { Operations, Reply } from '@millrace/contract';
import { failureIn, foreignPage } from '@millrace/contract/plain';
import { addressOf, type Parameters } from '../api/address.ts';
import { ServerRefused, ServerUnreachable } from '../api/errors.ts';
import { refusalSentence } from '../api/refusal-sentence.ts';
import type { Blob } from './prepare.ts';

export interface DeployTarget {
  readonly url: string;
  readonly key: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  /** Aborts requests. */
  readonly signal?: AbortSignal | undefined;
  /** How long unanswered calls are repeated, in milliseconds. */
  readonly patienceMs?: number | undefined;
}

interface Sent {
  readonly body?: string | ReadableStream<Uint8Array>;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
}

interface CallParts extends Parameters {
  readonly body?: unknown;
}

const defaultPatienceMs = 3_000;
const firstDelayMs = 200;
const maxDelayMs = 2_000;
const callMs = 60_000;
const transient = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Calls an operation of the contract and retries temporary failures. */
export async function callServer<K extends keyof Operations>(
  target: DeployTarget,
  name: K,
  { body, ...parameters }: CallParts = {},
): Promise<Reply<Operations[K]>> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  return retried(target, () =>
    request<Reply<Operations[K]>>(target, name, parameters, {
      ...(text !== undefined && { body: text, contentType: 'application/json' }),
      signal: AbortSignal.any([AbortSignal.timeout(callMs), ...(target.signal ? [target.signal] : [])]),
    }),
  );
}

/** Sends the rest of a blob, once. Returns the number of bytes that the server has. */
export async function sendBlob(
  target: DeployTarget,
  deploymentId: string,
  blob: Blob,
  offset: number,
  onSent: (bytes: number) => void,
): Promise<number> {
  const counted = blob.read(offset).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onSent(chunk.length);
        controller.enqueue(chunk);
      },
    }),
  );
  const { received } = await request<{ received: number }>(
    target,
    'uploadBlob',
    { params: { deploymentId, blob: blob.blob }, query: { offset: String(offset) } },
    {
      body: counted,
      contentType: 'application/octet-stream',
      signal: target.signal,
    },
  );
  return received;
}

/** Retries temporary failures. */
export async function retried<T>(
  { signal, patienceMs = defaultPatienceMs }: DeployTarget,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let delay = firstDelayMs; ; delay = Math.min(maxDelayMs, delay * 2)) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error) || performance.now() + delay > deadline) throw error;
      await setTimeout(delay, undefined, { ...(signal && { signal }) });
    }
  }
}

export const isTransient = (error: unknown): boolean =>
  error instanceof ServerUnreachable || (error instanceof ServerRefused && transient.has(error.status));

async function request<T>(
  { url, key, branch }: DeployTarget,
  name: keyof Operations,
  parameters: Parameters,
  { body, contentType, signal }: Sent,
): Promise<T> {
  const { method, address } = addressOf(url, name, parameters);
  const response = await fetch(address, {
    method,
    ...(body !== undefined && { body }),
    // Required only for streams.
    ...(body instanceof ReadableStream && { duplex: 'half' }),
    ...(signal && { signal }),
    headers: {
      authorization: `Bearer ${key}`,
      ...(contentType !== undefined && { 'content-type': contentType }),
      ...(branch !== undefined && { 'x-service-branch': branch }),
    },
    redirect: 'error',
  }).catch((error: unknown) => {
    const { cause = error } = error as Error;
    throw new ServerUnreachable(`Cannot reach ${url}: ${(cause as Error).message}`);
  });
  const text = await response.text().catch((error: unknown) => {
    throw new ServerUnreachable(`${url} did not send a complete response: ${(error as Error).message}`);
  });
  const page = foreignPage(response.status, text);
  const reply = parsed(text);
  if (response.ok && page === undefined) return reply as T;
  const refusal = (reply ?? {}) as { error?: unknown; details?: unknown; task?: unknown };
  const sentence = page ?? refusalSentence(response.status, response.statusText, refusal);
  const { details, task } = refusal;
  const failure = failureIn((header) => response.headers.get(header));
  throw new ServerRefused(response.status, sentence, { details, task, ...failure });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
