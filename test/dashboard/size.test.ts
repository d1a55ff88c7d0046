import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { buildDashboard } from '../support/dashboard.ts';

const folder = fileURLToPath(new URL('../../packages/server/dashboard/', import.meta.url));
const maxFirstLoad = 200_000;

beforeAll(buildDashboard);

/** A file and everything that it imports before it runs. */
async function loadedBy(file: string, found = new Set<string>()): Promise<Set<string>> {
  if (found.has(file)) return found;
  found.add(file);
  const text = await readFile(`${folder}assets/${file}`, 'utf8');
  for (const [, next] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g))
    await loadedBy(next as string, found);
  return found;
}

test('the first page loads at most 200 kB, compressed', async () => {
  const html = await readFile(`${folder}index.html`, 'utf8');
  const named = [...html.matchAll(/(?:src|href)="\.?\/assets\/([^"]+)"/g)].map(([, file]) => file as string);
  const files = await readdir(`${folder}assets`);
  const first = new Set<string>(named);
  // The list of runs: what most people open first.
  const pages = files.filter((file) => /^(?:runs-page|run-list)-[\w-]+\.(?:js|css)$/.test(file));
  expect(pages.length).toBeGreaterThan(0);
  for (const file of [...named, ...pages].filter((one) => one.endsWith('.js')))
    for (const one of await loadedBy(file)) first.add(one);
  for (const file of pages) first.add(file);
  let total = gzipSync(html).length;
  for (const file of first) total += gzipSync(await readFile(`${folder}assets/${file}`), { level: 9 }).length;
  expect(total).toBeLessThan(maxFirstLoad);
});

test('nothing in the page is inline, and no address is of another host', async () => {
  const html = await readFile(`${folder}index.html`, 'utf8');
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=|https?:\/\//);
});

test('neither zod nor eval is in what a browser loads', async () => {
  for (const file of await readdir(`${folder}assets`)) {
    if (!file.endsWith('.js')) continue;
    const text = await readFile(`${folder}assets/${file}`, 'utf8');
    expect(text, file).not.toMatch(/ZodError|\$ZodType|\beval\(|new Function\(/);
  }
});

test('each file of text has its compressed forms beside it', async () => {
  const files = new Set(await readdir(`${folder}assets`));
  for (const file of files)
    if (/\.(?:js|css|svg)$/.test(file)) {
      expect(files.has(`${file}.br`), file).toBe(true);
      expect(files.has(`${file}.gz`), file).toBe(true);
    }
});
