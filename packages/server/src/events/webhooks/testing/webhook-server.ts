import type { TaskManifest, WebhookVerification } from '@millrace/contract/runner';
import { promote } from '../../../../../../test/support/promote.ts';
import { testServer, type Answer, type TestServer } from '../../../../../../test/support/server.ts';
import { sharedServer, type SharedServer } from '../../../../../../test/support/shared-server.ts';
import type { ServerOptions } from '../../../server.ts';
import { signRequest } from '../schemes/index.ts';

export interface Request {
  readonly body: string | Buffer;
  /** The sender's id. */
  readonly id?: string;
  /** When it is signed. Default: now. */
  readonly at?: number;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WebhookServer extends SharedServer {
  /** Makes a version current in prod with these webhooks, by id. Returns its name. */
  declare(
    webhooks: Readonly<Record<string, WebhookVerification>>,
    settings?: Partial<TaskManifest>,
  ): Promise<string>;
  setVariable(name: string, value: string): Promise<void>;
  urlOf(webhook: string): Promise<string>;
  /** Sends a request that is signed with `secret`, by default `secret`. */
  send(webhook: string, verification: WebhookVerification, request: Request): Promise<Answer>;
  /** Sends a request that is not signed. */
  post(url: string, body: string | Buffer, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

let contents = 0;

/** The server of this worker with helpers for webhooks. */
export const webhookServer = async (): Promise<WebhookServer> => withWebhooks(await sharedServer());

/** Like `webhookServer`, with a separate server. */
export const ownWebhookServer = async (
  options: Partial<ServerOptions> = {},
): Promise<WebhookServer & TestServer> => withWebhooks(await testServer(options));

function withWebhooks<Server extends SharedServer>(server: Server): Server & WebhookServer {
  const urls = new Map<string, string>();

  async function urlOf(webhook: string): Promise<string> {
    const known = urls.get(webhook);
    if (known !== undefined) return known;
    const { body } = await server.ask('/api/v1/webhooks');
    const found = body.data.find(({ id }: { id: string }) => id === webhook);
    urls.set(webhook, found.url);
    return found.url;
  }

  async function post(
    url: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  return Object.assign(server, {
    urlOf,
    post,
    async declare(
      webhooks: Readonly<Record<string, WebhookVerification>>,
      settings: Partial<TaskManifest> = {},
    ) {
      const tasks = Object.entries(webhooks).map(([id, verify]) => ({
        id,
        filePath: 'webhooks.ts',
        webhook: { verify },
        ...settings,
      }));
      const { status, body } = await server.ask('/runner/v1/versions', {
        method: 'POST',
        body: { contentHash: `webhooks-${++contents}`, tasks },
      });
      if (status !== 200) throw new Error(JSON.stringify(body));
      await promote(server.url, server.keys.prod, body.version);
      return body.version as string;
    },
    async setVariable(name: string, value: string) {
      const { status, body } = await server.ask(`/api/v1/projects/${server.projectRef}/envvars/prod`, {
        method: 'POST',
        body: { name, value },
      });
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    async send(
      webhook: string,
      verification: WebhookVerification,
      { body, id = crypto.randomUUID(), at = server.now(), secret = 'secret', headers }: Request,
    ) {
      const signed = signRequest(verification, secret, { id, at, body: Buffer.from(body) });
      return post(await urlOf(webhook), body, { ...signed, ...headers });
    },
  });
}
