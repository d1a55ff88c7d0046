/** A server whose every reply is one that the contract allows, with a hostile text in every place where any text is allowed. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operations } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';
import { wholeSampleOf, type Schema } from '../access/sample.ts';

/** Hides the text before it, sets the title and the clipboard, starts a new line, reverses the reading direction. */
export const hostile =
  'hostile\u001b[2K\u001b]0;title\u0007\u001b]52;c;ZXZpbA==\u001b\\\rover\nnext\u009b31m\u0090q\u009c\u202eexe\u2066x\u2028y\u007f\b';

interface Described {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >;
}

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly reply: unknown;
  /** It replies with server-sent events. */
  readonly streams: boolean;
}

/** A field that is a text or null is a text here. */
const { paths } = JSON.parse(JSON.stringify(openApiDocument(operations)), (name, value: unknown) =>
  name === 'type' && Array.isArray(value) ? (value[0] as unknown) : value,
) as ReturnType<typeof openApiDocument>;

const declared: Route[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods as Readonly<Record<string, Described>>).map(([method, { responses }]) => {
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const schema = success?.content?.['application/json']?.schema ?? {};
    return {
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      reply: ended(wholeSampleOf(schema, hostile)),
      streams: success?.content?.['text/event-stream'] !== undefined,
    };
  }),
);
// A literal path takes precedence over one with a parameter in its place.
const routes = declared.toSorted(
  (a, other) => a.pattern.source.split('[^/]+').length - other.pattern.source.split('[^/]+').length,
);

/** Lists end, and runs and actions have ended: otherwise a command would continue forever. */
function ended(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ended);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    // An address of content stored apart would have to be valid.
    if (name === 'next' || name === 'previous' || name.endsWith('PresignedUrl')) return [];
    if (name === 'status' && member === 'PENDING_VERSION') return [[name, 'FAILED']];
    if (name === 'status' && member === 'PENDING') return [[name, 'COMPLETED']];
    if (name === 'isCompleted') return [[name, true]];
    return [[name, ended(member)]];
  });
  return Object.fromEntries(members);
}

/** A log line, as streams of lines have it, and the end of the stream. */
const streamed = (): string => {
  const reply = routes.find(({ pattern }) => pattern.test('/api/v1/logs'))?.reply as
    | { data: unknown[] }
    | undefined;
  return `event: line\ndata: ${JSON.stringify(reply?.data[0])}\n\nevent: end\ndata: {}\n\n`;
};

export interface HostileServer {
  readonly url: string;
  /** Requested operations, as method and path. */
  readonly requests: string[];
  /** Whether it now rejects every request, also with hostile texts. */
  refuses: boolean;
  close(): Promise<void>;
}

export async function hostileServer(): Promise<HostileServer> {
  const state = { requests: [] as string[], refuses: false };
  const answer = ({ method = '', url = '' }: IncomingMessage): [number, unknown, string?] => {
    const path = url.replace(/\?.*$/, '');
    state.requests.push(`${method} ${path}`);
    if (state.refuses)
      return [422, { error: hostile, details: [{ code: hostile, message: hostile, path: [hostile] }] }];
    const route = routes.find((candidate) => candidate.method === method && candidate.pattern.test(path));
    if (route?.streams) return [200, undefined, streamed()];
    return route ? [200, route.reply] : [404, { error: `No operation ${method} ${path}` }];
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const [status, body, events] = answer(request);
      const type = events === undefined ? 'application/json' : 'text/event-stream';
      response.writeHead(status, { 'content-type': type }).end(events ?? JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
