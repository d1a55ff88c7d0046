import { checkedCodec, type Codec } from '../sealing/codec.ts';
import { isSealed, open, type Envelope } from '../sealing/envelope.ts';
import { plain } from '../sealing/values.ts';

export interface CodecHandlerOptions {
  /**
   * Whether the sender of a request may see clear text: look at its cookie or its `authorization`. Called for each request. May return a
   * Response of its own, such as a redirect to a login.
   */
  readonly authorize: (request: Request) => boolean | Response | Promise<boolean | Response>;
  /** The dashboards that may ask, by the origins of their pages: `['https://millrace.example.com']`. */
  readonly origins: readonly string[];
}

/** Envelopes in one request, and bytes of it. */
const maxValues = 1_000;
const maxBytes = 32 * 1024 * 1024;

/** What became of one envelope. */
type Opened = { readonly value: unknown } | { readonly error: string };

/**
 * The endpoint through which the dashboard opens what is sealed: it runs on your side, with your keys, and a browser asks it directly. A POST
 * of `{ "values": [envelope, …] }` is answered with `{ "values": [{ "value": … } | { "error": "…" }, …] }`, in the same order.
 *
 * Answers 403 to an origin that is not listed or a sender that `authorize` refuses, 400 to a body that is not of this form, 405 to other
 * methods, 413 above 1,000 values or 32 MiB.
 *
 * @example
 * const handle = codecHandler(codec, {
 *   origins: ['https://millrace.example.com'],
 *   authorize: async (request) => (await session(request))?.role === 'support',
 * });
 * export const POST = handle, OPTIONS = handle;
 */
export function codecHandler(
  given: Codec,
  { authorize, origins }: CodecHandlerOptions,
): (request: Request) => Promise<Response> {
  const codec = checkedCodec(given, 'codecHandler: the codec');
  if (typeof authorize !== 'function')
    throw new TypeError('codecHandler: authorize must be a function that says who may see clear text.');
  if (
    !Array.isArray(origins) ||
    !origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin)
  )
    throw new TypeError(
      'codecHandler: origins must be a list of origins such as https://millrace.example.com, without a path.',
    );
  return async (request) => {
    const origin = request.headers.get('origin');
    // Browsers send one with each such request. Others must too, so that no page that is not listed can use the cookies of a visitor.
    if (origin === null || !origins.includes(origin))
      return answer(403, 'This origin may not ask.', undefined);
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: headersFor(origin) });
    if (request.method !== 'POST') return answer(405, 'Send a POST.', origin);
    const allowed = await authorize(request);
    if (allowed instanceof Response) return withHeaders(allowed, origin);
    // Whatever a caller without types may return.
    if ((allowed as unknown) !== true) return answer(403, 'You may not see clear text.', origin);
    const text = await textOf(request);
    if (text === undefined) return answer(413, `A request has at most ${maxBytes} bytes.`, origin);
    const values = valuesIn(text);
    if (!values) return answer(400, 'Send { "values": [ … ] }, a list of envelopes.', origin);
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
