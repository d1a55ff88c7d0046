import { followEvents, type SentEvent } from '@millrace/contract/event-stream';
import { failureIn } from '@millrace/contract/plain';
import type { ApiClient } from './api-client.ts';
import { errorOf } from './api-error.ts';
import { headersOf } from './exchange.ts';
import { accessTokenOf } from './settings.ts';

const final = new Set([400, 401, 403, 404, 409, 410, 422]);

/**
 * The events at an API path, until the signal is aborted. A broken connection is reopened with the resumption headers. Throws an ApiError for a
 * permanent failure.
 */
export const eventsAt = (
  { settings }: ApiClient,
  path: string,
  signal: AbortSignal | undefined,
  headers: () => Readonly<Record<string, string>>,
): AsyncGenerator<SentEvent, void, undefined> =>
  followEvents({
    signal,
    firstDelayMs: 100,
    maxDelayMs: 5_000,
    async connect(connection) {
      // Requested for each connection, because a run's credential may expire sooner.
      const accessToken = await accessTokenOf(settings);
      const response = await fetch(settings.baseURL + path, {
        headers: { ...headersOf(settings, accessToken, 'GET'), accept: 'text/event-stream', ...headers() },
        signal: connection,
        cache: 'no-store',
      }).catch(() => undefined);
      if (!response || response.ok) return response?.body;
      const { status, headers: replied } = response;
      if (!final.has(status)) return undefined;
      const text = await response.text().catch(() => '');
      throw errorOf({ status, text, ...failureIn((name) => replied.get(name)) });
    },
  });
