import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newContext } from '../../support/chromium.ts';
import { installation, type Installation } from '../installation.ts';

/** A minimal dashboard: it logs in by the link, requests its user and shows the reply. */
const script = `
const ask = (path, options = {}) =>
  fetch(new URL(path, document.baseURI), {
    ...options,
    headers: { 'x-millrace-dashboard': '1', 'content-type': 'application/json' },
  });
const link = new URLSearchParams(location.hash.slice(1)).get('link');
history.replaceState(null, '', location.pathname);
if (link) await ask('api/v1/browser-sessions', { method: 'POST', body: JSON.stringify({ token: link }) });
const reply = await ask('api/v1/browser-sessions/current');
const { user } = reply.ok ? await reply.json() : {};
document.title = user ? user.name : String(reply.status);
`;
const page =
  '<!doctype html><html><head><script type="module" src="assets/app.js"></script>' +
  '<script>window.inline = true</script></head><body style="color: red" onload="window.handler = true">x</body></html>';

async function files(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-dashboard-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'assets', 'app.js'), script);
  await writeFile(join(folder, 'index.html'), page);
  return folder;
}

/** A page of another site on another port: the same site to a browser, so the cookie is sent along. */
async function evil(html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const tab = async (): Promise<Page> => (await newContext()).newPage();

const linkOf = async ({ ask }: Installation): Promise<string> =>
  (await ask('POST /api/v1/browser-links')).body.url as string;

const logged = async (here: Installation): Promise<Page> => {
  const own = await tab();
  await own.goto(await linkOf(here));
  await expect.poll(() => own.title()).toBe('Owner');
  return own;
};

describe('in a real browser', { timeout: 60_000 }, () => {
  test('a link logs in once and does not remain in the address; the session survives a reload but not its end', async () => {
    const here = await installation({ dashboard: await files() });
    const own = await tab();
    const requests: string[] = [];
    own.on('request', (request) => requests.push(request.url()));
    const link = await linkOf(here);
    await own.goto(link);
    await expect.poll(() => own.title()).toBe('Owner');
    expect(own.url()).toBe(`${here.server.url}/login`);
    expect(requests.filter((url) => !url.startsWith(here.server.url))).toEqual([]);
    expect(requests.filter((url) => url.includes('svc_link') && url !== link)).toEqual([]);
    expect(await own.evaluate('document.cookie')).toBe('');
    await own.goto(`${here.server.url}/account`);
    // Again: the link is used up, and the session still exists.
    await own.goto(link);
    await expect.poll(() => own.title()).toBe('Owner');
    const fresh = await tab();
    await fresh.goto(link);
    await expect.poll(() => fresh.title()).toBe('401');
    const [session] = (await here.ask('GET /api/v1/browser-sessions')).body.data as { id: string }[];
    await here.ask(`DELETE /api/v1/browser-sessions/${session?.id}`);
    await own.reload();
    await expect.poll(() => own.title()).toBe('401');
  });

  test('runs nothing inline, and no other page shows it in a frame', async () => {
    const here = await installation({ dashboard: await files() });
    const own = await logged(here);
    expect(await own.evaluate('[window.inline, window.handler]')).toEqual([undefined, undefined]);
    expect(await own.evaluate('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)');
    const outside = await own.context().newPage();
    await outside.goto(await evil(`<iframe src="${here.server.url}/login"></iframe>`));
    await expect.poll(() => outside.frames().length).toBe(2);
    const framed = outside.frames()[1];
    await expect.poll(() => framed?.url()).toContain('chrome-error:');
  });

  test('another page that has the cookie sent along changes nothing, reads nothing, and logs no user in', async () => {
    const here = await installation({ dashboard: await files() });
    const own = await logged(here);
    const { url } = here.server;
    const outside = await own.context().newPage();
    const cookies: (string | undefined)[] = [];
    const statuses: number[] = [];
    outside.on('response', async (response) => {
      if (!response.url().startsWith(url)) return;
      statuses.push(response.status());
      cookies.push((await response.request().allHeaders())['cookie']);
    });
    const form = (path: string, field: string) =>
      `<form method="post" enctype="text/plain" target="sink" action="${url}${path}"><input name='${field}' value='"}'></form>`;
    await outside.goto(
      await evil(
        `<iframe name="sink"></iframe>${form('/api/v1/orgs', '{"name":"Forged","x":"')}` +
          form('/api/v1/browser-sessions', `{"accessToken":"${here.token}","email":"`),
      ),
    );
    for (const index of [0, 1]) {
      const answered = outside.waitForResponse((response) => response.url().startsWith(url));
      await outside.evaluate(`document.forms[${index}].submit()`);
      await answered;
    }
    // The attack is real: the browser did send the cookie.
    await expect
      .poll(() => cookies.filter((cookie) => cookie?.includes('svc_browser_')).length)
      .toBeGreaterThan(0);
    expect(statuses.filter((status) => status < 400)).toEqual([]);
    const fetched = await outside.evaluate(`Promise.all([
      fetch('${url}/api/v1/orgs', { credentials: 'include' }),
      fetch('${url}/api/v1/orgs', { credentials: 'include', headers: { 'x-millrace-dashboard': '1' } }),
      fetch('${url}/api/v1/orgs', { method: 'POST', credentials: 'include', body: '{"name":"Forged"}' }),
      fetch('${url}/api/v1/orgs', { method: 'POST', credentials: 'include', mode: 'no-cors', body: '{"name":"Forged"}' }),
    ].map((each) => each.then((reply) => reply.type, () => 'refused')))`);
    expect(fetched).toEqual(['refused', 'refused', 'refused', 'opaque']);
    expect((await here.ask('GET /api/v1/orgs')).body).toHaveLength(1);
    expect((await here.ask('GET /api/v1/browser-sessions')).body.data).toHaveLength(1);
    // The session is unchanged.
    await own.goto(`${url}/login`);
    await expect.poll(() => own.title()).toBe('Owner');
  });
});
