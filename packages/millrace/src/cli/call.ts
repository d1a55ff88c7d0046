import type { Operations, Reply } from '@millrace/contract';
import { failureIn, foreignPage, routes, type FailureHeaders } from '@millrace/contract/plain';
import { refusalSentence } from '../api/refusal-sentence.ts';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import type { Login } from './login.ts';

export interface CallParts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The server returned an error. */
export class CallRefused extends CommandFailed {
  readonly status: number;
  /** The error code, one of `errorCodes`; undefined if the reply has none. */
  readonly code: string | undefined;
  /** The members of the response body. */
  readonly reply: Readonly<Record<string, unknown>>;
  /** The documentation address from the server. */
  readonly help: string | undefined;

  constructor(
    status: number,
    sentence: string,
    reply: Readonly<Record<string, unknown>>,
    { code, help }: FailureHeaders,
  ) {
    const mayNot = status === 401 || status === 403;
    super(mayNot ? exitCodes.cannotReach : exitCodes.failed, sentence);
    this.status = status;
    this.code = code;
    this.reply = reply;
    this.help = help;
  }
}

/** Calls an operation of the contract. An error response ends the command with the server's message. */
export async function call<K extends keyof Operations>(
  { url, token }: Login,
  name: K,
  { params = {}, query = {}, headers = {}, body }: CallParts = {},
): Promise<Reply<Operations[K]>> {
  const [method, path] = routes[name];
  const filled = path.replace(/:(\w+)/g, (_, parameter: string) =>
    encodeURIComponent(params[parameter] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  const response = await fetch(`${url}${filled}${search === '' ? '' : `?${search}`}`, {
    method,
    headers: {
      ...headers,
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
    redirect: 'error',
  }).catch((error: unknown) => {
    const { cause = error } = error as Error;
    throw new CommandFailed(exitCodes.cannotReach, `Cannot reach ${url}: ${(cause as Error).message}`);
  });
  const text = await response.text();
  const { status } = response;
  const page = foreignPage(status, text);
  if (response.ok) {
    const reply = parsed(text);
    if (reply === undefined) throw new CommandFailed(exitCodes.cannotReach, page ?? notThisApi(status, url));
    return reply as Reply<Operations[K]>;
  }
  const reply = membersOf(text);
  throw new CallRefused(
    status,
    page ?? refusalSentence(status, response.statusText, reply),
    reply,
    failureIn((header) => response.headers.get(header)),
  );
}

const notThisApi = (status: number, url: string): string =>
  `${status} with a body that is not this API's; is ${url} the address of a Millrace server?`;

/** The members of a response body; none if it is not JSON. */
export const membersOf = (text: string): Readonly<Record<string, unknown>> =>
  Object(parsed(text)) as Readonly<Record<string, unknown>>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
