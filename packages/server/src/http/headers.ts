/** Constant response headers. */
import { errorCodeHeader, helpHeader } from '@millrace/contract/plain';

/** For every API response, which is not a page and must not be cached. */
export const apiHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** For responses of operations that a browser may call with a public token. */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'x-trigger-jwt, x-trigger-jwt-claims, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, ' +
    `retry-after, x-should-retry, x-stream-version, x-session-settled, x-last-chunk-index, ${helpHeader}, ${errorCodeHeader}`,
};

const allowedHeaders = [
  'authorization',
  'content-type',
  'trigger-version',
  'x-trigger-api-version',
  'x-trigger-source',
  'x-trigger-realtime-streams-version',
  'x-trigger-branch',
  'x-service-branch',
  'x-trigger-client',
  'x-trigger-worker',
  'x-trigger-engine-version',
  'x-trigger-span-parent-as-link',
  'x-trigger-request-idempotency-key',
  'x-trigger-electric-version',
  'x-trigger-stream-start',
  'traceparent',
  'tracestate',
  'idempotency-key',
  'idempotency-key-ttl',
  'batch-processing-strategy',
  'x-part-id',
  'last-event-id',
  'timeout-seconds',
  'x-peek-settled',
];

export const preflightHeaders = (methods: readonly string[]): Readonly<Record<string, string>> => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': allowedHeaders.join(', '),
  'access-control-max-age': '300',
});
