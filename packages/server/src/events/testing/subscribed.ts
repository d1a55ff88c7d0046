import { testServer, type TestServer } from '../../../../../test/support/server.ts';
import { sharedServer, type SharedServer } from '../../../../../test/support/shared-server.ts';
import type { ServerOptions } from '../../server.ts';
import { promote } from '../../../../../test/support/promote.ts';

interface On {
  readonly name: string;
  readonly filter?: unknown;
}

export interface EventServer extends SharedServer {
  /** Makes a version current in prod, with tasks that have these subscriptions, by task id. */
  register(tasks: Readonly<Record<string, On | undefined>>): Promise<void>;
  send(id: string, event: unknown): ReturnType<SharedServer['ask']>;
}

let contents = 0;

/** The server of this worker with helpers for events. */
export const eventServer = async (): Promise<EventServer> => withEvents(await sharedServer());

/** Like `eventServer`, with a separate server. */
export const ownEventServer = async (
  options: Partial<ServerOptions> = {},
): Promise<EventServer & TestServer> => withEvents(await testServer(options));

const withEvents = <Server extends SharedServer>(server: Server): Server & EventServer =>
  Object.assign(server, {
    async register(tasks: Readonly<Record<string, On | undefined>>) {
      const manifests = Object.entries(tasks).map(([id, on]) => ({
        id,
        filePath: 'tasks.ts',
        ...(on && { on }),
      }));
      const { status, body } = await server.ask('/runner/v1/versions', {
        method: 'POST',
        body: { contentHash: `content-${++contents}`, tasks: manifests },
      });
      if (status !== 200) throw new Error(JSON.stringify(body));
      await promote(server.url, server.keys.prod, body.version);
    },
    send: (id: string, event: unknown) =>
      server.ask('/api/v1/events', { method: 'POST', body: { id, event } }),
  });
