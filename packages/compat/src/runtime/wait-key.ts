import type { Attempt } from './attempt.ts';

const triggered = /^\/api\/v[1-3]\/tasks\/([^/]+)\/trigger$/;

/** The header that all attempts of one request share. */
const requestHeader = 'x-trigger-request-idempotency-key';

/**
 * The body of a request that creates an object for which the code then waits, with the key by which an attempt that is executed again finds
 * that object. Undefined for other requests.
 */
export function withWaitKey(
  attempt: Attempt,
  path: string,
  headers: Headers,
  body: string,
): string | undefined {
  const what = waitKindOf(path, body);
  if (what === undefined) return undefined;
  const parsed = JSON.parse(body) as { options?: object } & Record<string, unknown>;
  const isTrigger = triggered.test(path);
  const options = (isTrigger ? (parsed.options ?? {}) : parsed) as {
    idempotencyKey?: unknown;
    waitKey?: string;
  };
  // A request with its own idempotency key is found by that key.
  if (options.idempotencyKey !== undefined) return undefined;
  const request = headers.get(requestHeader) ?? '';
  const known = attempt.waitKeys.get(request);
  const waitKey = known ?? nextKey(attempt, what);
  if (request !== '') attempt.waitKeys.set(request, waitKey);
  return JSON.stringify(isTrigger ? { ...parsed, options: { ...options, waitKey } } : { ...parsed, waitKey });
}

/** The name under which objects of its kind are counted; undefined for requests whose result is not awaited. */
function waitKindOf(path: string, body: string): string | undefined {
  if (path === '/api/v1/waitpoints/tokens') return 'token';
  if (!body.includes('"resumeParentOnCompletion":true')) return undefined;
  const task = triggered.exec(path)?.[1];
  if (task !== undefined) return `run/${decodeURIComponent(task)}`;
  return path === '/api/v3/batches' || path === '/api/v2/tasks/batch' ? 'batch' : undefined;
}

/** Uses the same counter as our own SDK, so that code that is executed again gets the same numbers. */
function nextKey({ scope }: Attempt, what: string): string {
  const count = (scope.waits?.counts.get(what) ?? 0) + 1;
  scope.waits?.counts.set(what, count);
  return `${scope.run}/${scope.attempt} ${what.replace(/^run\//, '')}/${count}`;
}
