/**
 * `npm run screenshots [-- <page> …]`: the pages of the dashboard in light, dark and narrow, with the data of `millrace demo --seed 1`, as
 * docs/images/dashboard/<page>-<theme>.webp. Takes about two minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { findBrowser } from '../support/browser.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'docs/images/dashboard');

/** The output of `millrace demo --once` when it is ready. */
interface Demo {
  readonly url: string;
  readonly projectRef: string;
  readonly personalAccessToken: string;
  readonly open: Readonly<Record<string, string>>;
}

/** Each page with its path below an environment; `:name` is an id that the demo named. */
const pages: Readonly<Record<string, string>> = {
  overview: '',
  runs: '/runs',
  run: '/runs/:runWithChildren',
  'failed-run': '/runs/:failedRun',
  tasks: '/tasks',
  task: '/tasks/checkout?view=test',
  errors: '/errors',
  error: '/errors/:errorGroup',
  queues: '/queues',
  schedules: '/schedules',
  schedule: '/schedules/:scheduleWithMissedTicks',
  batches: '/batches',
  'bulk-action': '/bulk/:bulkAction',
  events: '/events',
  waits: '/waits',
  wait: '/waits/:token',
  session: '/sessions/:session',
  variables: '/variables',
  versions: '/versions',
  notifications: '/notifications',
  keys: '/settings/keys',
  project: '/settings/project',
  members: '/settings/members',
  audit: '/settings/audit',
};

const variants = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1_440, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1_440, height: 900 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 400, height: 860 } },
] as const;

async function startDemo(): Promise<{ demo: Demo; stop: () => Promise<void> }> {
  const args = [join(root, 'packages/millrace/bin/millrace.js'), 'demo', '--once', '--json', '--port', '0'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill('SIGINT');
    await once(child, 'exit');
  };
  for await (const line of createInterface({ input: child.stdout }))
    return { demo: JSON.parse(line) as Demo, stop };
  throw new Error('The demo ended before it was ready.');
}

async function take(page: Page, file: string): Promise<void> {
  // Its data has arrived, and nothing moves any longer.
  await page.waitForLoadState('networkidle').catch(() => {});
  await page.waitForTimeout(1_000);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 });
  await writeFile(file, Buffer.from(data, 'base64'));
}

const requested = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const { demo, stop } = await startDemo();
const { executablePath, env } = await findBrowser();
const browser = await chromium.launch({
  executablePath,
  env: { ...process.env, ...env },
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
try {
  for (const { name: variant, ...options } of variants) {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options });
    const page = await context.newPage();
    const answer = await fetch(`${demo.url}/api/v1/browser-links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.personalAccessToken}` },
    });
    const { token } = (await answer.json()) as { token: string };
    await page.goto(`${demo.url}/login#link=${token}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const [name, path] of Object.entries(pages)) {
      if (requested.length > 0 && !requested.includes(name)) continue;
      const filled = path.replace(/:(\w+)/, (_, id: string) => encodeURIComponent(demo.open[id] ?? ''));
      await page.goto(`${demo.url}/p/${demo.projectRef}/prod${filled}`);
      await take(page, join(folder, `${name}-${variant}.webp`));
      console.log(`${name}, ${variant}`);
    }
    await context.close();
  }
} finally {
  await browser.close();
  await stop();
}
