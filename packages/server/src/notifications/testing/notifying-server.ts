import { testServer, type TestServer } from '../../../../../test/support/server.ts';
import { sharedServer, type SharedServer } from '../../../../../test/support/shared-server.ts';
import type { ServerOptions } from '../../server.ts';
import { startTestRunner } from './runner.ts';
import { promote } from '../../../../../test/support/promote.ts';

export interface NotifyingServer extends SharedServer {
  /** Adds an endpoint in prod. */
  endpoint(url: string, types: readonly string[]): Promise<{ id: string; secret: string }>;
  /** Adds an endpoint of any kind in prod; returns the response. */
  add(body: unknown): ReturnType<SharedServer['ask']>;
  /** A request under the alerts path of prod. */
  alerts(path: string, method?: string, body?: unknown): ReturnType<SharedServer['ask']>;
  /** A request under the notifications path of prod. */
  notifications(path: string, method?: string, body?: unknown): ReturnType<SharedServer['ask']>;
  /** Makes a new version with a task, of this owner, current in prod, with a runner that fails its runs. */
  deploy(owner?: string): Promise<string>;
  /** Triggers a run that fails with this message. */
  fail(message: string): Promise<string>;
}

export const task = 'charge';
let contents = 0;

/** The server of this worker, which may send notifications to this machine. */
export const notifyingServer = async (): Promise<NotifyingServer> => withNotifications(await sharedServer());

/** Like `notifyingServer`, with a separate server. */
export const startNotifyingServer = async (
  options: Partial<ServerOptions> = {},
): Promise<NotifyingServer & TestServer> =>
  withNotifications(await testServer({ notificationNetworks: ['127.0.0.0/8'], ...options }));

function withNotifications<Server extends SharedServer>(server: Server): Server & NotifyingServer {
  const root = `/api/v1/projects/${server.projectRef}/notifications/prod`;
  const notifications = (path: string, method = 'GET', body?: unknown) =>
    server.ask(root + path, { method, ...(body !== undefined && { body }) });
  return Object.assign(server, {
    notifications,
    add: (body: unknown) => notifications('/endpoints', 'POST', body),
    alerts: (path: string, method = 'GET', body?: unknown) =>
      server.ask(`/api/v1/projects/${server.projectRef}/alerts/prod${path}`, {
        method,
        ...(body !== undefined && { body }),
      }),
    async endpoint(url: string, types: readonly string[]) {
      const { status, body } = await notifications('/endpoints', 'POST', { url, types });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body as { id: string; secret: string };
    },
    async deploy(owner?: string) {
      const { body } = await server.ask('/runner/v1/versions', {
        method: 'POST',
        body: { contentHash: `content-${++contents}`, tasks: [{ id: task, filePath: 'tasks/a.ts', owner }] },
      });
      await promote(server.url, server.keys.prod, body.version);
      await startTestRunner(server.url, server.keys.prod, [body.version]);
      return body.version as string;
    },
    async fail(message: string) {
      const { body } = await server.ask(`/api/v1/tasks/${task}/trigger`, {
        method: 'POST',
        body: { payload: message },
      });
      return body.id as string;
    },
  });
}
