import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { findBrowser } from './browser.ts';
import type { TestServer } from './server.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let built: Promise<unknown> | undefined;

/** The files as the sources make them now; quick when nothing changed. */
export const buildDashboard = (): Promise<unknown> =>
  (built ??= promisify(execFile)(process.execPath, ['packages/dashboard/build.ts'], { cwd: root }));

/** A real Chromium, closed when the test ends. */
export async function launchBrowser(): Promise<Browser> {
  const { executablePath, env } = await findBrowser();
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  onTestFinished(() => browser.close());
  return browser;
}

interface Dashboard {
  readonly page: Page;
  /** What went wrong: exceptions, violations of the content security policy, requests to other hosts. */
  readonly problems: readonly string[];
  /** Goes to a page of an environment: `/runs?q=…`. */
  readonly open: (path: string, env?: string) => Promise<void>;
}

/** The address that logs one browser in, once. */
export async function loginLink(server: TestServer): Promise<string> {
  const { status, body } = await server.ask('/api/v1/browser-links', {
    method: 'POST',
    key: server.personalAccessToken,
  });
  expect(status).toBe(200);
  return new URL(`/login#link=${body.token}`, server.url).href;
}

/** A browser on a server's dashboard, logged in by a one-time link unless told otherwise. The test fails with any problem of the page. */
export async function openDashboard(
  server: TestServer,
  {
    isLoggedIn = true,
    otherOrigin,
    ...options
  }: BrowserContextOptions & {
    readonly isLoggedIn?: boolean;
    /** Another origin that the page may ask. */
    readonly otherOrigin?: string;
  } = {},
): Promise<Dashboard> {
  await buildDashboard();
  const browser = await launchBrowser();
  const context = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1_440, height: 900 },
    ...options,
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(`exception: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      problems.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isKnown = url.origin === new URL(server.url).origin || url.origin === otherOrigin;
    if (!isKnown && url.protocol !== 'blob:' && url.protocol !== 'data:')
      problems.push(`request to another host: ${url.href}`);
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (one) => console.error('CSP: ' + one.violatedDirective + ' ' + one.blockedURI + ' ' + one.sourceFile + ':' + one.lineNumber))",
  );
  onTestFinished(() => expect(problems).toEqual([]));
  const open = async (path: string, env = 'prod'): Promise<void> => {
    await page.goto(new URL(`/p/${server.projectRef}/${env}${path}`, server.url).href);
  };
  if (isLoggedIn) {
    await page.goto(await loginLink(server));
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  }
  return { page, problems, open };
}
