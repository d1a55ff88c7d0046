import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDashboard } from '../support/dashboard.ts';
import { testServer } from '../support/server.ts';

const folder = fileURLToPath(new URL('../../packages/server/dashboard/', import.meta.url));
const maxFirstLoad = 200_000;

test('the first page loads at most 200 kB, compressed', { timeout: 180_000 }, async () => {
  const server = await testServer();
  const { page, settled } = await openDashboard(server);
  const paths = new Set<string>();
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith('/assets/')) paths.add(pathname.slice(1));
  });
  // The list of runs, which is usually opened first, with its plot.
  await page.goto(new URL(`/p/${server.projectRef}/prod/runs`, server.url).href);
  await page.getByText('No runs in the last seven days.').waitFor();
  await settled();
  let total = gzipSync(await readFile(`${folder}index.html`)).length;
  for (const path of paths) total += gzipSync(await readFile(folder + path), { level: 9 }).length;
  expect(paths.size).toBeGreaterThan(5);
  expect(total).toBeGreaterThan(50_000);
  expect(total, [...paths].join('\n')).toBeLessThan(maxFirstLoad);
});

test('the page has no inline code, and no address of another host', async () => {
  const html = await readFile(`${folder}index.html`, 'utf8');
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=|https?:\/\//);
});

test('neither zod nor eval is in the files that a browser loads', async () => {
  for (const file of await readdir(`${folder}assets`)) {
    if (!file.endsWith('.js')) continue;
    const text = await readFile(`${folder}assets/${file}`, 'utf8');
    expect(text, file).not.toMatch(/ZodError|\$ZodType|\beval\(|new Function\(/);
  }
});

test('each text file has its compressed forms next to it', async () => {
  const files = new Set(await readdir(`${folder}assets`));
  for (const file of files)
    if (/\.(?:js|css|svg)$/.test(file)) {
      expect(files.has(`${file}.br`), file).toBe(true);
      expect(files.has(`${file}.gz`), file).toBe(true);
    }
});
