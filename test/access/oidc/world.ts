/** A server whose users log in with a provider. */
import type { RateLimits } from '../../../packages/server/src/http/rate-limit.ts';
import { fromPage } from '../browser/tab.ts';
import { installation } from '../installation.ts';
import { Browser, testProvider, type TestProvider } from './provider.ts';

export { Browser };

export async function start(
  options: Parameters<typeof testProvider>[0] = {},
  settings: Partial<TestProvider['settings']> = {},
  rateLimits: RateLimits = {},
) {
  const provider = await testProvider(options);
  const here = await installation({ oidc: { ...provider.settings, ...settings }, rateLimits });
  provider.allow(here.server.url);
  return { provider, here };
}

/** The installation as a browser knows it: one of this process, or one behind a proxy. */
interface Served {
  readonly server: { readonly url: string };
}

/** Opens the login and returns where the provider sends the browser back to. `change` is an attacker's change on the way there. */
export async function throughProvider(
  { server }: Served,
  browser: Browser,
  account: string,
  change: (url: URL) => void = () => {},
  search = '?return=/account',
): Promise<string> {
  const begun = await browser.visit(`${server.url}/login/oidc${search}`);
  if (begun.status !== 303) throw new Error(`${begun.status} ${await begun.text()}`);
  const url = new URL(begun.headers.get('location') ?? '');
  change(url);
  return browser.atProvider(url.href, account);
}

/** A new browser that is logged in. */
export async function logInAs(here: Served, account: string): Promise<Browser> {
  const browser = new Browser();
  const done = await browser.visit(await throughProvider(here, browser, account));
  if (done.status !== 303) throw new Error(`${done.status} ${await done.text()}`);
  return browser;
}

/** Requests of the page of the dashboard. */
export async function ask({ server }: Served, browser: Browser, request: string, body?: unknown) {
  const [method = '', path] = request.split(' ');
  const answer = await browser.visit(`${server.url}${path}`, {
    method,
    headers: fromPage,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // oxlint-disable-next-line typescript/no-explicit-any -- replies have any shape
  return { status: answer.status, body: (await answer.json()) as any };
}

export const current = (here: Served, browser: Browser) =>
  ask(here, browser, 'GET /api/v1/browser-sessions/current');
