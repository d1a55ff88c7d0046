/** A real identity provider on this machine, and a browser that visits it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Configuration } from 'oidc-provider';
import { onTestFinished } from 'vitest';
import type { OidcSettings } from '../../../packages/server/src/tenancy/oidc/settings.ts';

export interface Account {
  groups: readonly string[] | string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  /** When its id token begins to be valid, by the provider's clock. */
  nbf?: number;
}

export interface TestProvider {
  readonly settings: OidcSettings;
  /** Its accounts. A change applies from the next reply on. */
  readonly accounts: Map<string, Account>;
  /** Whether the provider replies. */
  setDown(down: boolean): void;
  /** Every token that it issued. */
  readonly issued: readonly string[];
  /** Requests to its token endpoint so far. */
  readonly tokenRequests: number;
  /** Allows redirects to this address. */
  allow(serverUrl: string): void;
}

const clientSecret = 'a-secret-that-nobody-may-see-in-a-log';

/** `in` selects where the groups are: in the id token, or only in the user info. */
export async function testProvider(
  options: {
    readonly in?: 'idToken' | 'userInfo';
    readonly gives?: 'refreshToken' | 'none';
  } = {},
): Promise<TestProvider> {
  const accounts = new Map<string, Account>();
  const redirects: string[] = [];
  let isDown = false;
  let tokenRequests = 0;
  const issued: string[] = [];
  let provider: Provider | undefined;
  const server: Server = createServer((request, response) => {
    if (isDown) return void request.socket.destroy();
    if (request.url?.startsWith('/token')) tokenRequests++;
    void provider?.callback()(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close().closeAllConnections();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings: OidcSettings = {
    issuer,
    clientId: 'millrace',
    clientSecret,
    name: 'Example SSO',
    organization: undefined,
    groupsClaim: 'groups',
    roles: new Map([
      ['millrace-admins', 'admin'],
      ['eng', 'member'],
      ['everybody', 'viewer'],
    ]),
    scopes: undefined,
  };
  const configurationOf = (logoutUri?: string): Configuration => ({
    clients: [
      {
        client_id: 'millrace',
        client_secret: clientSecret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: redirects,
        ...(logoutUri !== undefined && { backchannel_logout_uri: logoutUri }),
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub', 'nbf'], profile: ['name', 'groups'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: options.in === 'userInfo',
    findAccount(_context, sub) {
      const account = accounts.get(sub);
      return account && { accountId: sub, claims: () => ({ sub, ...account }) };
    },
    issueRefreshToken: async () => options.gives !== 'none',
    rotateRefreshToken: true,
    ttl: {
      AccessToken: 600,
      Grant: 86_400,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    pkce: { required: () => true },
    cookies: { keys: ['test'] },
    // Without its own dispatcher, which rejects addresses of this machine.
    fetch: (url, request: RequestInit = {}) =>
      fetch(url, Object.assign({ ...request }, { dispatcher: undefined })),
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
  });
  const create = (serverUrl: string): Provider => {
    const oidcProvider = new Provider(issuer, configurationOf(`${serverUrl}/login/oidc/logout`));
    oidcProvider.on('grant.success', ({ body }) => {
      const { access_token: access, refresh_token: refresh, id_token: id } = body as Record<string, string>;
      issued.push(...[access, refresh, id].filter((token) => token !== undefined));
    });
    oidcProvider.on('server_error', (_context, error) => console.error(error));
    return oidcProvider;
  };
  return {
    settings,
    accounts,
    setDown: (down) => {
      isDown = down;
      if (down) server.closeAllConnections();
    },
    issued,
    get tokenRequests() {
      return tokenRequests;
    },
    allow(serverUrl) {
      redirects.push(`${serverUrl}/login/oidc/callback`);
      provider = create(serverUrl);
    },
  };
}

/** A browser: it stores cookies by host and port, and does not follow redirects automatically. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>();

  async visit(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#jars.get(host) ?? new Map<string, string>();
    this.#jars.set(host, jar);
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: {
        ...(init.headers as Record<string, string> | undefined),
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      },
    });
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === '' || /max-age=0(?:;|$)|expires=Thu, 01 Jan 1970/i.test(text)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  cookies(url: string): ReadonlyMap<string, string> {
    return this.#jars.get(new URL(url).host) ?? new Map();
  }

  /** Logs the account out at the provider, as the provider's page does. */
  async leave(issuer: string): Promise<void> {
    const page = await (await this.visit(`${issuer}/session/end`)).text();
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
    await this.visit(`${issuer}/session/end/confirm`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ xsrf, logout: 'yes' }).toString(),
    });
  }

  /** The address that the provider sends the browser to once the account has logged in and consented. */
  async atProvider(url: string, account: string): Promise<string> {
    let at = url;
    for (let steps = 0; steps < 12; steps++) {
      const response = await this.visit(at);
      const location = response.headers.get('location');
      if (location !== null) {
        const next = new URL(location, at);
        if (next.host !== new URL(url).host) return next.href;
        at = next.href;
        continue;
      }
      const page = await response.text();
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
      const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
      if (action === undefined || prompt === undefined) throw new Error(`${response.status} ${page}`);
      const answered = await this.visit(new URL(action, at).href, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ prompt, login: account, password: 'x' }).toString(),
      });
      at = new URL(answered.headers.get('location') ?? '', at).href;
    }
    throw new Error('The provider redirects forever');
  }
}
