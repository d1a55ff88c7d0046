/**
 * Copies the documentation into this package, where `millrace help` and agents find it without the repository, and writes the list of its pages,
 * `llms.txt`.
 */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pageList } from './page-list.ts';
import { pagesBelow } from './src/help/pages.ts';

const from = new URL('../../docs/', import.meta.url);
const to = new URL('pages/', import.meta.url);

await rm(to, { recursive: true, force: true });
const pages = pagesBelow(fileURLToPath(from));
for (const page of pages) {
  const target = new URL(`${page}.md`, to);
  await mkdir(dirname(fileURLToPath(target)), { recursive: true });
  await copyFile(new URL(`${page}.md`, from), target);
}
const texts = await Promise.all(pages.map((page) => readFile(new URL(`${page}.md`, to), 'utf8')));
await writeFile(
  new URL('llms.txt', import.meta.url),
  pageList(new Map(pages.map((page, at) => [page, texts[at] ?? '']))),
);
