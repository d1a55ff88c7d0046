import { currentAttempt, type Attempt } from './attempt.ts';
import { apiUrl, credentialOf } from './call-api.ts';
import { answerHere } from './answer-here.ts';
import { refusedOptions } from './refused-options.ts';
import type { Prompts } from './prompts.ts';
import { withWaitKey } from './wait-key.ts';

/**
 * The value that the published SDK uses as its secret key in the code of a task. It never leaves the process; requests with it get the
 * credential of their attempt. It has the format of a key, so that 4.5 and later request public tokens from the server.
 */
export const placeholder = 'tr_dev_sk_credentialsOfThisAttempt';

/** The `api-client` API, which configures the server for task code. Outside of attempts it has no credential. */
export const clientApi = {
  get baseURL(): string {
    return apiUrl();
  },
  get accessToken(): string | undefined {
    return currentAttempt() ? placeholder : undefined;
  },
  get secretKey(): string | undefined {
    return currentAttempt() ? placeholder : undefined;
  },
  // The credential is valid for its own branch. An empty name means no branch, and prevents the lookup in environment variables.
  previewBranch: '',
};

/** Adds the credential of the attempt to requests of the published SDK in the code of a task. Other requests are unchanged. */
export function installWire(prompts: Prompts): void {
  const plain = globalThis.fetch;
  globalThis.fetch = function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const attempt = currentAttempt();
    if (!attempt) return plain(input, init);
    const address = input instanceof Request ? input.url : String(input);
    const url = apiUrl();
    if (!address.startsWith(`${url}/`)) return plain(input, init);
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    if (headers.get('authorization') !== `Bearer ${placeholder}`) return plain(input, init);
    const path = new URL(address).pathname.slice(new URL(`${url}/`).pathname.length - 1);
    return send(plain, attempt, prompts, { input, init, headers, path });
  };
}

interface Sent {
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
  readonly headers: Headers;
  /** Relative to the server's address, with a leading slash. */
  readonly path: string;
}

async function send(
  plain: typeof fetch,
  attempt: Attempt,
  prompts: Prompts,
  { input, init, headers, path }: Sent,
): Promise<Response> {
  const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
  const body = typeof init?.body === 'string' ? init.body : undefined;
  if (method === 'POST') {
    const prompt = /^\/api\/v1\/prompts\/([^/]+)$/.exec(path)?.[1];
    if (prompt !== undefined)
      return prompts.answer(decodeURIComponent(prompt), JSON.parse(body ?? '{}') as object);
    const refusal = refusedOptions(path, body);
    if (refusal) return refusal;
    const answer = await answerHere(attempt, path, headers, body);
    // No public token is needed. Without the header, the SDK would sign one.
    if (answer) return Response.json(answer, { headers: { 'x-trigger-jwt': '' } });
  }
  headers.set('authorization', `Bearer ${await credentialOf(attempt)}`);
  headers.delete('x-trigger-branch');
  const changed =
    method === 'POST' && body !== undefined ? withWaitKey(attempt, path, headers, body) : undefined;
  const sent = plain(input, { ...init, headers, ...(changed !== undefined && { body: changed }) });
  // The attempt does not end while a request changes something, even if its code does not await the request.
  if (method !== 'GET') hold(attempt, sent);
  return sent;
}

function hold({ scope: { calls } }: Attempt, sent: Promise<unknown>): void {
  if (!calls) return;
  const end = (): void => void calls.delete(underWay);
  const underWay = sent.then(end, end);
  calls.add(underWay);
}
