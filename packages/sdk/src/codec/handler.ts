import { checkedCodec, type Codec } from '../sealing/codec.ts';
import { isSealed, open, type Envelope } from '../sealing/envelope.ts';
import { plain } from '../sealing/values.ts';

export interface CodecHandlerOptions {
  /**
   * Whether the sender of a request may see clear text, for example based on a cookie or the `authorization` header. Called for each
   * request. May return a Response, such as a redirect to a login page.
   */
  readonly authorize: (request: Request) => boolean | Response | Promise<boolean | Response>;
  /** The allowed dashboards, by the origins of their pages: `['https://millrace.example.com']`. */
  readonly origins: readonly string[];
}

/** Maximum number of envelopes in one request, and its maximum size in bytes. */
const maxValues = 1_000;
const maxBytes = 32 * 1024 * 1024;

/** The result of opening one envelope. */
type Opened = { readonly value: unknown } | { readonly error: string };

/**
 * The endpoint through which the dashboard opens sealed data. It runs on your side, with your keys, and the browser calls it directly. The
 * response to a POST of `{ "values": [envelope, …] }` is `{ "values": [{ "value": … } | { "error": "…" }, …] }`, in the same order.
 *
 * Responds 403 if the origin is not listed or `authorize` denies the request, 400 if the body is invalid, 405 to other methods, and 413 above
 * 1,000 values or 32 MiB.
 *
 * @example
 * const handle = codecHandler(codec, {
 *   origins: ['https://millrace.example.com'],
 *   authorize: async (request) => (await session(request))?.role === 'support',
 * });
 * export const POST = handle, OPTIONS = handle;
 */
export function codecHandler(
  input: Codec,
  { authorize, origins }: CodecHandlerOptions,
): (request: Request) => Promise<Response> {
  const codec = checkedCodec(input, 'codecHandler: the codec');
  if (typeof authorize !== 'function')
    throw new TypeError('codecHandler: authorize must be a function that decides who can read clear text.');
  if (
    !Array.isArray(origins) ||
    !origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
  )
    throw new TypeError(
      'codecHandler: origins must be an array of origins such as https://millrace.example.com, without a path.',
    );
  return async (request) => {
    const origin = request.headers.get('origin');
    // Browsers send an origin with each such request. It is required from all clients, so that no other page can use a visitor's cookies.
    if (origin === null || !origins.includes(origin))
      return answer(403, 'This origin is not allowed.', undefined);
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: headersFor(origin) });
    if (request.method !== 'POST') return answer(405, 'Method not allowed: send a POST request.', origin);
    const allowed = await authorize(request);
    if (allowed instanceof Response) return withHeaders(allowed, origin);
    // An untyped caller may return any value.
    if ((allowed as unknown) !== true) return answer(403, 'Not authorized to read clear text.', origin);
    const text = await textOf(request);
    if (text === undefined) return answer(413, `A request has at most ${maxBytes} bytes.`, origin);
    const values = valuesIn(text);
    if (!values)
      return answer(400, 'values: must be an array of envelopes, as in { "values": [ … ] }.', origin);
    if (values.length > maxValues) return answer(413, `A request has at most ${maxValues} values.`, origin);
    const opened = await Promise.all(values.map((envelope) => openOne(codec, envelope)));
    return Response.json({ values: opened }, { headers: headersFor(origin) });
  };
}

async function openOne(codec: Codec, envelope: Envelope): Promise<Opened> {
  try {
    return { value: plain(await open(codec, envelope, undefined)) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** The body; undefined if it is too large. */
async function textOf(request: Request): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return undefined;
  const text = await request.text();
  return text.length > maxBytes ? undefined : text;
}

function valuesIn(text: string): Envelope[] | undefined {
  try {
    const { values } = Object(JSON.parse(text)) as { values?: unknown };
    return Array.isArray(values) && values.every(isSealed) ? values : undefined;
  } catch {
    return undefined;
  }
}

const headersFor = (origin: string): Record<string, string> => ({
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type',
  'access-control-max-age': '600',
  'cache-control': 'no-store',
  vary: 'origin',
});

const answer = (status: number, error: string, origin: string | undefined): Response =>
  Response.json({ error }, { status, headers: origin === undefined ? {} : headersFor(origin) });

function withHeaders(response: Response, origin: string): Response {
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(headersFor(origin))) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}
