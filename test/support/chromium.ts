import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { findBrowser } from './browser.ts';

let launched: Promise<Browser> | undefined;

/** One of this worker, whose files share this module. */
async function browserOfWorker(): Promise<Browser> {
  const running = await launched;
  // One that has crashed fails the test in which it did, and no other.
  if (running?.isConnected()) return running;
  return (launched = launch());
}

async function launch(): Promise<Browser> {
  const { executablePath, env } = await findBrowser();
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    handleSIGTERM: false,
  });
  // Vitest ends its workers with this signal. Playwright kills what it launched when a process exits.
  process.once('SIGTERM', () => process.exit());
  return browser;
}

/** What one test has of the browser: cookies, storage and cache of its own, gone when the test ends. */
export async function newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
  const browser = await browserOfWorker();
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context;
}
