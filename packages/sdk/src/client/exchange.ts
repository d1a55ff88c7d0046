import { send } from '../transport/index.ts';
import { failureIn } from '@millrace/contract/plain';
import { currentRun } from '../run-scope.ts';
import { pause } from '../runs/pause.ts';
import { sdkVersion } from '../sdk-version.ts';
import type { HttpReply, HttpRequest } from '../transport/transport.ts';
import type { Failure } from './api-error.ts';
import { announceOutage } from './outage.ts';
import { requestRetries } from './request-retry.ts';
import { accessTokenOf, type ResolvedSettings } from './settings.ts';

export interface ExchangeRequest {
  readonly method: string;
  readonly path: string;
  /** The credential, if the caller already has it; then this never rejects. */
  readonly accessToken?: string;
  /** JSON text, for operations with a JSON body. */
  readonly body?: string;
  /** Headers in addition to those of every request; the same for all its attempts. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether it may be repeated on any server for as long as an outage lasts. */
  readonly repeatable: boolean;
  /** Stops retrying during an outage. Default: the run's signal. */
  readonly signal?: AbortSignal | undefined;
}

export type Exchanged =
  | { readonly ok: true; readonly reply: HttpReply }
  | { readonly ok: false; readonly failure: Failure };

export function headersOf(
  settings: ResolvedSettings,
  accessToken: string,
  method: string,
  body?: string,
): Record<string, string> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${accessToken}`,
    // Selects the run statuses that this SDK's types have.
    'x-trigger-api-version': '2025-07-16',
    'x-trigger-source': 'sdk',
    'trigger-version': sdkVersion,
  };
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (settings.previewBranch !== undefined) headers['x-service-branch'] = settings.previewBranch;
  if (settings.agent !== undefined) headers['x-millrace-agent'] = settings.agent;
  // One key for all attempts of this request, so that the server executes it once even if a response is lost.
  if (method !== 'GET') headers['x-trigger-request-idempotency-key'] = crypto.randomUUID();
  return headers;
}

async function attemptOnce(request: HttpRequest): Promise<Exchanged> {
  try {
    const reply = await send(request);
    if (reply.status >= 200 && reply.status < 300) return { ok: true, reply };
    return {
      ok: false,
      failure: {
        status: reply.status,
        text: reply.text,
        location: reply.header('location'),
        ...failureIn(reply.header),
        shouldRetry: reply.header('x-should-retry'),
        rateLimitReset: reply.header('x-ratelimit-reset'),
        retryAfter: reply.header('retry-after'),
      },
    };
  } catch (cause) {
    return { ok: false, failure: { status: undefined, cause, baseURL: request.baseURL } };
  }
}

/**
 * Sends a request until it succeeds, fails permanently or has used up its attempts and the time of an outage. The caller turns a failure into an error, so that the
 * error's stack is the caller's. Rejects only if no credential can be obtained.
 * @param firstFailure a first attempt made elsewhere, in a shared request: retries continue from there
 */
export async function exchange(
  settings: ResolvedSettings,
  { method, path, body, headers, accessToken, repeatable, signal = currentRun()?.signal }: ExchangeRequest,
  firstFailure?: Failure,
): Promise<Exchanged> {
  const { baseURL, timeoutInMs: timeoutMs } = settings;
  const request = {
    method,
    baseURL,
    path,
    body,
    timeoutMs,
    headers: {
      ...headersOf(settings, accessToken ?? (await accessTokenOf(settings)), method, body),
      ...headers,
    },
  };
  // Code that still calls after the stop signal, such as `onCancel`, must end soon.
  const nextRetry = requestRetries(settings.retry, repeatable && signal?.aborted !== true);
  let last: Exchanged = firstFailure ? { ok: false, failure: firstFailure } : await attemptOnce(request);
  while (!last.ok) {
    // Behaves like a process that died while waiting for the response.
    if (currentRun()?.isGone?.() === true) return new Promise<never>(() => undefined);
    const retry = nextRetry(last.failure);
    if (!retry) break;
    if (!retry.isOutage) await pause(retry.delayMs);
    else {
      announceOutage(settings, last.failure);
      if (!(await pausedUntil(retry.delayMs, signal))) break;
    }
    last = await attemptOnce(request);
  }
  return last;
}

/** Whether the pause ended without the stop signal. */
const pausedUntil = (ms: number, signal: AbortSignal | undefined): Promise<boolean> =>
  pause(ms, signal).then(
    () => true,
    () => false,
  );
