/** Copies the pages named in messages into this package, where `millrace help` finds them without the repository. */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { pages } from './src/help/pages.ts';

const from = new URL('../../docs/', import.meta.url);
const to = new URL('pages/', import.meta.url);

await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
await Promise.all(pages.map((page) => copyFile(new URL(`${page}.md`, from), new URL(`${page}.md`, to))));
