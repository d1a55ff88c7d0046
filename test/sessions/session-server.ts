import type { ServerOptions } from '../../packages/server/src/server.ts';
import { testServer, type Answer, type TestServer } from '../support/server.ts';
import { sharedServer, type SharedServer } from '../support/shared-server.ts';

export interface SessionServer extends SharedServer {
  /** Starts a session of the task `chat`. Returns the response body. */
  start(body?: Readonly<Record<string, unknown>>, key?: string): Promise<Answer['body']>;
  append(
    session: string,
    io: 'in' | 'out',
    text: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Ends a run, as a runner would. */
  endRun(run: string): Promise<void>;
  follow(path: string, options?: FollowOptions): Promise<EventReader>;
}

export interface FollowOptions {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** An event stream in arrival order. */
export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** The next event that is not a ping; undefined at a proper end. Rejects when the connection breaks. */
  next(): Promise<ServerEvent | undefined>;
  /** The records of batches, up to `count` or to the end. */
  records(count?: number): Promise<StreamRecord[]>;
  cancel(): Promise<void>;
}

export interface StreamRecord {
  readonly seq_num: number;
  readonly timestamp: number;
  readonly body: string;
  readonly headers?: readonly (readonly [string, string])[];
}

export const address = (session: string): string => encodeURIComponent(session);
/** The appended text of a record. */
export const dataOf = ({ body }: StreamRecord): unknown => (JSON.parse(body) as { data: unknown }).data;

export const sessionServer = async (): Promise<SessionServer> => withSessions(await sharedServer());

/** A separate server for a test. */
export const ownSessionServer = async (
  options: Partial<ServerOptions> = {},
): Promise<SessionServer & TestServer> => withSessions(await testServer(options));

const withSessions = <Server extends SharedServer>(server: Server): Server & SessionServer =>
  Object.assign(server, {
    async start(body: Readonly<Record<string, unknown>> = {}, key?: string) {
      const sent = {
        type: 'chat.agent',
        taskIdentifier: 'chat',
        triggerConfig: { basePayload: { a: 1 } },
        ...body,
      };
      const { status, body: session } = await server.ask('/api/v1/sessions', {
        method: 'POST',
        body: sent,
        ...(key !== undefined && { key }),
      });
      if (status !== 201 && status !== 200) throw new Error(JSON.stringify(session));
      return session;
    },
    append: (session: string, io: 'in' | 'out', text: string, headers = {}) =>
      server.ask(`/realtime/v1/sessions/${address(session)}/${io}/append`, {
        method: 'POST',
        body: text,
        headers,
      }),
    async endRun(run: string) {
      const { status } = await server.ask(`/api/v2/runs/${run}/cancel`, { method: 'POST' });
      if (status !== 200) throw new Error(`Could not end the run: status ${status}`);
    },
    follow: (path: string, { key = server.keys.prod, headers }: FollowOptions = {}) =>
      followEvents(`${server.url}/realtime/v1/sessions/${path}`, {
        ...(key !== '' && { authorization: `Bearer ${key}` }),
        ...headers,
      }),
  });

export async function followEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const events: ServerEvent[] = [];
  const next = async (): Promise<ServerEvent | undefined> => {
    for (;;) {
      const event = events.shift();
      if (event && event.event !== 'ping') return event;
      if (event) continue;
      const chunk = await reader?.read();
      if (!chunk || chunk.done) return undefined;
      text += chunk.value;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) events.push(parseEvent(part));
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    async records(count = Infinity) {
      const records: StreamRecord[] = [];
      while (records.length < count) {
        const event = await next();
        if (!event || event.data === '[DONE]') break;
        if (event.event === 'batch')
          records.push(...(JSON.parse(event.data) as { records: StreamRecord[] }).records);
      }
      return records;
    },
    async cancel() {
      abort.abort();
      await reader?.cancel().catch(() => {});
    },
  };
}

function parseEvent(text: string): ServerEvent {
  let id: string | undefined;
  let event: string | undefined;
  const data: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('data: ')) data.push(line.slice(6));
    else if (line.startsWith(':')) event ??= 'ping';
  }
  return { id, event, data: data.join('\n') };
}
