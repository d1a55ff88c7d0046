/** The documentation site, as built by `npm run docs:build`. VitePress fails if a link leads to no page. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operations } from '@millrace/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sidebar } from '../../docs/.vitepress/sidebar.ts';
import { repository } from '../cli/command.ts';

let site: string;
beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), 'millrace-site-'));
  const vitepress = join(repository, 'test/node_modules/vitepress/bin/vitepress.js');
  await promisify(execFile)(process.execPath, [vitepress, 'build', 'docs', '--outDir', site], {
    cwd: repository,
  });
}, 400_000);
afterAll(() => rm(site, { recursive: true, force: true }));

const links = sidebar.flatMap(({ items }) => items.map(({ link }) => link));

test('every page of docs/ is in the sidebar, and every link of the sidebar is a page', async () => {
  const folders = await Promise.all(
    ['docs', 'docs/coming-from'].map(async (folder) =>
      (await readdir(join(repository, folder))).map((name) => `/${folder}/${name}`),
    ),
  );
  const pages = folders
    .flat()
    .filter((path) => path.endsWith('.md'))
    .map((path) => path.replace(/\.md$/, ''));
  expect(pages.filter((name) => !links.includes(name))).toEqual([]);
  const missing = links.filter(
    (link) => !existsSync(join(site, link === '/' ? 'index.html' : `${link}.html`)),
  );
  expect(missing).toEqual([]);
});

test('the reference has every operation of the API', async () => {
  const folder = join(site, 'docs/reference');
  const pages = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
  );
  const all = pages.join('\n');
  const missing = Object.keys(operations).filter((id) => !all.includes(`id="${id.toLowerCase()}"`));
  expect(missing).toEqual([]);
});

/** The text of the search index. */
async function searchIndex(): Promise<string> {
  const files = await readdir(site, { recursive: true });
  const index = files.find((name) => name.includes('localSearchIndex'));
  return readFile(join(site, index ?? ''), 'utf8');
}

test('the search finds every operation of the API', async () => {
  const index = await searchIndex();
  const missing = Object.keys(operations).filter(
    (id) => !new RegExp(`"/docs/reference/[a-z-]+\\.html#${id.toLowerCase()}"`).test(index),
  );
  expect(missing).toEqual([]);
  // A word of its description.
  expect(index).toContain('"triggertask"');
});

test('links lead to existing headings and files', async () => {
  const files = (await readdir(site, { recursive: true })).filter((name) => name.endsWith('.html'));
  const pages = new Map<string, string>(
    await Promise.all(
      files.map(async (name) => [`/${name}`, await readFile(join(site, name), 'utf8')] as const),
    ),
  );
  const followed: string[] = [];
  const broken: string[] = [];
  for (const [page, html] of pages) {
    for (const [, href = ''] of html.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(href, `http://site${page}`);
      if (origin !== 'http://site') continue;
      followed.push(pathname);
      const target = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      const linked = pages.get(target);
      if (
        linked === undefined ? !existsSync(join(site, target)) : anchor && !linked.includes(`id="${anchor}"`)
      )
        broken.push(`${page} → ${href}`);
    }
  }
  expect(broken).toEqual([]);
  expect(followed).toContain('/files/deploy/kubernetes/keda.yml.txt');
  expect(await readFile(join(site, 'files/packages/millrace/demo/shop.txt'), 'utf8')).toContain(
    '==> packages/millrace/demo/shop/',
  );
});

test('the search index is part of the site, and no page loads anything from elsewhere', async () => {
  const files = (await readdir(site, { recursive: true })).filter((name) => /\.(?:html|js|css)$/.test(name));
  expect(await searchIndex()).toContain('"revolutions"');
  for (const name of files.filter((file) => file.endsWith('.html'))) {
    const html = await readFile(join(site, name), 'utf8');
    expect([
      name,
      html.match(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\/[^"]+"/g),
    ]).toEqual([name, null]);
  }
});
