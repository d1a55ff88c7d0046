import type { BrowserContextOptions, Page, Request } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { newContext } from './chromium.ts';
import type { TestServer } from './server.ts';

interface Dashboard {
  readonly page: Page;
  /** Problems: exceptions, content security policy violations, requests to other hosts. */
  readonly problems: readonly string[];
  /** Goes to a page of an environment: `/runs?q=…`. */
  readonly open: (path: string, env?: string) => Promise<void>;
  /** Waits until the page has rendered all requested data. */
  readonly settled: () => Promise<void>;
}

/** A one-time login address for a browser. */
export async function loginLink(server: TestServer): Promise<string> {
  const { status, body } = await server.ask('/api/v1/browser-links', {
    method: 'POST',
    key: server.personalAccessToken,
  });
  expect(status).toBe(200);
  return new URL(`/login#link=${body.token}`, server.url).href;
}

/** A browser on a server's dashboard, logged in by default. Any problem of the page fails the test. */
export async function openDashboard(
  server: TestServer,
  {
    isLoggedIn = true,
    otherOrigin,
    ...options
  }: BrowserContextOptions & {
    readonly isLoggedIn?: boolean;
    /** Another origin that the page may call. */
    readonly otherOrigin?: string;
  } = {},
): Promise<Dashboard> {
  const context = await newContext({
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
    // Logs in like the login page, without loading it in a browser.
    const answer = await context.request.post(new URL('/api/v1/browser-sessions', server.url).href, {
      headers: { 'x-millrace-dashboard': '1', 'sec-fetch-site': 'same-origin' },
      data: { accessToken: server.personalAccessToken },
    });
    expect(answer.status()).toBe(200);
  }
  return { page, problems, open, settled: watchRequests(page) };
}

function watchRequests(page: Page): () => Promise<void> {
  const unanswered = new Set<Request>();
  page.on('request', (request) => {
    // A stream stays open as long as the page.
    if (request.headers()['accept'] !== 'text/event-stream') unanswered.add(request);
  });
  page.on('requestfinished', (request) => unanswered.delete(request));
  page.on('requestfailed', (request) => unanswered.delete(request));
  return async () => {
    do {
      await expect.poll(() => unanswered.size).toBe(0);
      await drawn(page);
      // Rendering may trigger more requests.
    } while (unanswered.size > 0);
  };
}

/** Resolves when the page has finished rendering and is idle. */
export const drawn = (page: Page): Promise<void> =>
  page.evaluate<void>(
    'new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(() => requestAnimationFrame(resolve), { timeout: 1000 })))',
  );
