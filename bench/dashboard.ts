/**
 * How quickly the dashboard responds: `node bench/dashboard.ts [runs] [folder]`, 10,000,000 runs by default, after `npm run build`. An
 * embedded PostgreSQL, a real server and a real Chromium on one machine. The data is that of runs-data.ts, stats-data.ts, errors-data.ts (2
 * million occurrences in 2,000 groups) and timeline-data.ts; with a folder, it is kept there and reused.
 *
 * - Pages: the largest contentful paint, and when the data that the page is for is painted, in a browser that has no file of the dashboard yet
 *   ("first") and in one that has ("again"). The slowest request of each page is named.
 * - Interactions: from the key or click to the next paint, as the browser reports it (Event Timing, in steps of 8 ms, from 16 ms on).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/src/cluster/index.ts';
import { masterKeyOf } from '../packages/server/src/auth/seal.ts';
import { connect } from '../packages/server/src/db/connect.ts';
import { startServer, type RunningServer } from '../packages/server/src/server.ts';
import {
  chromium,
  findBrowser,
  type BrowserContext,
  type Page,
  type Request,
} from '../test/support/browser.ts';
import { promote } from '../test/support/promote.ts';
import { makeErrors } from './data/errors.ts';
import { makeRuns } from './data/runs.ts';
import { makeRollUps } from './data/stats.ts';
import { makeTimeline } from './data/timeline.ts';

const total = Number(process.argv[2] ?? 10_000_000);
const dataFolder = process.argv[3];
const tasks = 50;
const rounds = Number(process.argv[4] ?? 7);
const yearMs = 365 * 86_400_000;

const folder = dataFolder ?? (await mkdtemp(join(tmpdir(), 'millrace-bench-')));
const postgres = await startPostgres({ dataDir: folder, settings: { max_wal_size: '8GB' } });
const start = (): Promise<RunningServer> =>
  startServer({
    database: postgres.connection,
    port: 0,
    masterKey: masterKeyOf(Buffer.alloc(32, 1)),
    reveal: true,
    retention: { runsMs: yearMs, logsMs: yearMs, occurrencesMs: yearMs, errorHoursMs: yearMs },
    log: { info() {}, warn: (event, fields) => console.error(event, fields), error: console.error },
  });

async function fill(): Promise<void> {
  const sql = connect(postgres.connection, { name: 'bench', max: 1, settings: { jit: 'off' } });
  try {
    const [filled] = await sql`select from runs limit 1`;
    if (filled) return;
    const [prod] = await sql<{ id: number }[]>`select id from environments where kind = 'prod'`;
    const env = prod?.id ?? 0;
    const now = Date.now();
    const begun = performance.now();
    await makeErrors(sql, {
      env,
      occurrences: 2_000_000,
      groups: 2_000,
      tasks,
      days: 90,
      now: new Date(now),
    });
    await sql.unsafe(`set work_mem = '1GB'; set maintenance_work_mem = '1GB'`);
    await makeRuns(sql, { env, total, now });
    await makeRollUps(sql, env, tasks);
    await makeTimeline(sql, env, 200);
    await sql.unsafe('vacuum analyze');
    console.log(`${total} runs made in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Makes a version current that has the tasks of the runs. */
async function register(server: RunningServer): Promise<void> {
  const key = server.credentials?.environments.prod.secretKey ?? '';
  const response = await fetch(`${server.url}/runner/v1/versions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      contentHash: 'a'.repeat(64),
      tasks: Array.from({ length: tasks }, (_, n) => ({ id: `t${n + 1}`, filePath: `tasks/t${n + 1}.ts` })),
    }),
  });
  if (!response.ok) throw new Error(await response.text());
  await promote(server.url, key);
}

/** Runs in the page: records the times of paints and the duration of each interaction. */
const watch = `
  globalThis.seen = { lcp: 0, shown: 0, events: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.lcp = entry.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (entry.interactionId) seen.events.push(entry.duration);
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });
  globalThis.whenShown = (selector) => new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(selector + ' was not shown within 20 s')), 20_000);
    const look = () => {
      if (!selector.split(' & ').every((each) => document.querySelector(each))) return false;
      // After the frame in which it is painted.
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
      return true;
    };
    if (look()) return;
    const observer = new MutationObserver(() => look() && observer.disconnect());
    observer.observe(document, { subtree: true, childList: true });
  });`;

const row = (label: string): string => `[role=grid][aria-label="${label}"] [aria-rowindex="2"]`;
const pages: readonly (readonly [name: string, path: string, shown: string])[] = [
  ['overview', '', '.series-card canvas & [aria-label="Tasks"] tbody tr & .concerns, .all-well'],
  ['runs, with the histogram', '/runs', `${row('Runs')} & .histogram canvas`],
  ['runs, FAILED in 30 days', '/runs?q=status:failed%20since:30d', `${row('Runs')} & .histogram canvas`],
  ['a run: 1,000 spans, 200 children', '/runs/run_mw000000root', '.wf-row & .log-line'],
  ['errors', '/errors', `${row('Errors')} & canvas`],
  ['queues', '/queues', row('Queues')],
  ['tasks', '/tasks', row('Tasks')],
];

const quantile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN);

async function open(page: Page, url: string, selector: string) {
  const requests: { path: string; ms: number }[] = [];
  const listen = (request: Request): void => {
    const { pathname, search } = new URL(request.url());
    const { responseEnd } = request.timing();
    if (/^\/(?:api|realtime)\//.test(pathname)) requests.push({ path: pathname + search, ms: responseEnd });
  };
  page.on('requestfinished', listen);
  await page.goto(url, { waitUntil: 'commit' });
  const shownMs = await page.evaluate<number>(`whenShown(${JSON.stringify(selector)})`);
  await page.waitForTimeout(400);
  page.off('requestfinished', listen);
  const lcp = await page.evaluate<number>('seen.lcp');
  return { lcp, visibleMs: shownMs, slowest: requests.toSorted((a, b) => b.ms - a.ms)[0] };
}

async function measurePages(contextOf: () => Promise<BrowserContext>, base: string): Promise<void> {
  const results = [];
  for (const [name, path, selector] of pages) {
    const first = [];
    const again = [];
    for (let round = 0; round < rounds; round++) {
      const context = await contextOf();
      first.push(await open(await context.newPage(), base + path, selector));
      again.push(await open(await context.newPage(), base + path, selector));
      await context.close();
    }
    const slowest = again.flatMap((page) => page.slowest ?? []).toSorted((a, b) => b.ms - a.ms)[0];
    results.push({
      page: name,
      'LCP first': quantile(
        first.map(({ lcp }) => lcp),
        0.5,
      ),
      'LCP first, most': quantile(
        first.map(({ lcp }) => lcp),
        1,
      ),
      'LCP again': quantile(
        again.map(({ lcp }) => lcp),
        0.5,
      ),
      'LCP again, most': quantile(
        again.map(({ lcp }) => lcp),
        1,
      ),
      'data first': quantile(
        first.map(({ visibleMs: shownMs }) => shownMs),
        0.5,
      ),
      'data again': quantile(
        again.map(({ visibleMs: shownMs }) => shownMs),
        0.5,
      ),
      'data, most': quantile(
        [...first, ...again].map(({ visibleMs: shownMs }) => shownMs),
        1,
      ),
      slowest: slowest ? `${Math.round(slowest.ms)} ms ${slowest.path.slice(0, 70)}` : '',
    });
  }
  console.table(results);
}

type Step = readonly [name: string, act: (page: Page) => Promise<unknown>];

const onRuns: readonly Step[] = [
  ['open the filter', (page) => page.getByRole('combobox', { name: 'Filter' }).click()],
  ['a key in the filter', (page) => page.keyboard.type('s')],
  [
    'close the filter',
    async (page) => {
      await page.keyboard.press('Backspace');
      await page.keyboard.press('Escape');
    },
  ],
  ['select a row', (page) => page.getByRole('checkbox', { name: 'Select the row' }).nth(3).click()],
  ['choose all that are loaded', (page) => page.getByRole('checkbox', { name: /^Choose all/ }).click()],
  ['choose none', (page) => page.getByRole('checkbox', { name: /^Choose all/ }).click()],
  [
    'next row (j)',
    async (page) => {
      await page.getByRole('heading', { name: 'Runs' }).click();
      await page.evaluate('seen.events.length = 0');
      await page.keyboard.press('j');
    },
  ],
  ['to the end: the next page is loaded', (page) => page.keyboard.press('End')],
  ['to the end again', (page) => page.keyboard.press('End')],
  ['to the start', (page) => page.keyboard.press('Home')],
  [
    'a run in the side panel',
    (page) =>
      page
        .locator(`${row('Runs')} [role=gridcell]`)
        .nth(1)
        .click(),
  ],
  ['a tab of it', (page) => page.getByRole('tab', { name: 'Payload' }).click()],
  ['close the panel', (page) => page.keyboard.press('Escape')],
  ['the command palette', (page) => page.keyboard.press('Control+k')],
  [
    'a key in the palette',
    async (page) => {
      await page.locator('.palette-input').waitFor();
      await page.keyboard.type('t');
    },
  ],
  ['close the palette', (page) => page.keyboard.press('Escape')],
  ['the histogram as a table', (page) => page.locator('.plot-table > summary').first().click()],
  ['another range of time', (page) => page.getByRole('button', { name: '30d', exact: true }).click()],
];

const onRun: readonly Step[] = [
  ['tab Attempts', (page) => page.getByRole('tab', { name: 'Attempts' }).click()],
  ['tab Raw', (page) => page.getByRole('tab', { name: 'Raw' }).click()],
  ['tab Related', (page) => page.getByRole('tab', { name: 'Related' }).click()],
  ['tab Logs', (page) => page.getByRole('tab', { name: 'Logs' }).click()],
  ['a line of the timeline', (page) => page.locator('.wf-row').nth(3).click()],
  ['close a part of the timeline', (page) => page.locator('.wf-toggle').nth(1).click()],
  ['open it', (page) => page.locator('.wf-toggle').nth(1).click()],
  ['every attempt', (page) => page.getByRole('button', { name: 'Every attempt' }).click()],
  ['close all', (page) => page.getByRole('button', { name: 'Close all' }).click()],
  [
    'a key in the search',
    async (page) => {
      await page.getByRole('searchbox', { name: 'Find in the timeline' }).focus();
      await page.keyboard.type('m');
    },
  ],
  ['another key', (page) => page.keyboard.type('a')],
];

async function measureSteps(contextOf: () => Promise<BrowserContext>, base: string): Promise<void> {
  const results = new Map<string, number[]>();
  for (const [path, selector, steps] of [
    ['/runs', `${row('Runs')} & .histogram canvas`, onRuns],
    ['/runs/run_mw000000root', '.wf-row & .log-line', onRun],
  ] as const)
    for (let round = 0; round < rounds; round++) {
      const context = await contextOf();
      const page = await context.newPage();
      await open(page, base + path, selector);
      for (const [name, act] of steps) {
        await page.evaluate('seen.events.length = 0');
        await act(page);
        await page.waitForTimeout(350);
        const [took] = await page.evaluate<number[]>('[Math.max(0, ...seen.events)]');
        const key = `${path === '/runs' ? 'runs' : 'a run'}: ${name}`;
        results.set(key, [...(results.get(key) ?? []), took ?? 0]);
      }
      await context.close();
    }
  console.table(
    [...results].map(([interaction, times]) => ({
      interaction,
      'p50, ms': quantile(times, 0.5) || '< 16',
      'most, ms': quantile(times, 1) || '< 16',
    })),
  );
}

try {
  await (await start()).close();
  await fill();
  const server = await start();
  await register(server);
  const { executablePath, env } = await findBrowser();
  const browser = await chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const options = { locale: 'en-GB', viewport: { width: 1_440, height: 900 } };
  try {
    const link = await fetch(`${server.url}/api/v1/browser-links`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.credentials?.personalAccessToken}` },
    });
    const { token } = (await link.json()) as { token: string };
    const first = await browser.newContext(options);
    const page = await first.newPage();
    await page.goto(`${server.url}/login#link=${token}`);
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const storageState = await first.storageState();
    await first.close();
    const contextOf = async (): Promise<BrowserContext> => {
      const context = await browser.newContext({ ...options, storageState });
      await context.addInitScript(watch);
      return context;
    };
    const base = `${server.url}/p/${server.credentials?.projectRef}/prod`;
    await measurePages(contextOf, base);
    await measureSteps(contextOf, base);
  } finally {
    await browser.close();
    await server.close();
  }
} finally {
  await postgres.stop();
  if (dataFolder === undefined) await rm(folder, { recursive: true, force: true });
}
