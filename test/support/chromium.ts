import { chromium, type Browser, type BrowserContext, type BrowserContextOptions } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { findBrowser } from './browser.ts';

let launched: Promise<Browser> | undefined;

/** The browser of this worker, whose files share this module. */
async function browserOfWorker(): Promise<Browser> {
  const running = await launched;
  // A crashed browser fails only the test in which it crashed.
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
  // Vitest ends its workers with this signal. Playwright kills its browsers when a process exits.
  process.once('SIGTERM', () => process.exit());
  return browser;
}

/** A browser context of one test, with its own cookies, storage and cache, removed when the test ends. */
export async function newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
  const browser = await browserOfWorker();
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  return context;
}
