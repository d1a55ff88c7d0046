import { failureIn } from '@millrace/contract/plain';
import { errorOf, type Failure } from '../client/api-error.ts';
import { requestRetries } from '../client/request-retry.ts';
import type { ResolvedSettings } from '../client/settings.ts';
import { pause } from '../runs/pause.ts';

/** A text and its content type. */
export interface TypedText {
  readonly text: string;
  readonly type: string;
}

type Settings = Pick<ResolvedSettings, 'retry' | 'timeoutInMs'>;

/**
 * One request to a signed URL, with retries. The URL may be on another host and itself grants permission, so the credential is not sent.
 */
async function exchangeWith(settings: Settings, url: string, init: RequestInit): Promise<Response> {
  // An upload replaces an earlier one.
  const nextRetry = requestRetries(settings.retry, true);
  for (;;) {
    let failure: Failure;
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(settings.timeoutInMs) });
      if (response.ok) return response;
      failure = {
        status: response.status,
        text: await response.text(),
        shouldRetry: response.headers.get('x-should-retry') ?? undefined,
        retryAfter: response.headers.get('retry-after') ?? undefined,
        ...failureIn((name) => response.headers.get(name)),
      };
    } catch (cause) {
      failure = { status: undefined, cause, baseURL: new URL(url).origin };
    }
    const retry = nextRetry(failure);
    if (!retry) throw errorOf(failure);
    await pause(retry.delayMs);
  }
}

/** Uploads content to a signed URL. */
export async function sendContent(settings: Settings, url: string, { text, type }: TypedText): Promise<void> {
  const response = await exchangeWith(settings, url, {
    method: 'PUT',
    headers: { 'content-type': type },
    body: text,
  });
  await response.arrayBuffer();
}

/** Downloads the content of a signed URL. */
export async function readContent(settings: Settings, url: string): Promise<TypedText> {
  const response = await exchangeWith(settings, url, {});
  const type = response.headers.get('content-type')?.split(';', 1)[0]?.trim() ?? 'application/json';
  return { text: await response.text(), type };
}
