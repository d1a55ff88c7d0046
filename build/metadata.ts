/**
 * The fields of each published package.json that npm shows. `node build/metadata.ts` writes them, and `npm run format` orders
 * them. With `--release` it also fails while the addresses are placeholders, because npm accepts a signed origin only from the repository in
 * package.json.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { publishedPackages } from './packages.ts';
import { root } from './up-to-date.ts';

/** No public address is known yet. Set this before the first release, and run this file. */
const address = 'https://example.com/millrace';
const isPlaceholder = address.startsWith('https://example.com/');

const shared = ['background-jobs', 'millrace', 'postgresql', 'typescript'];

const keywords: Readonly<Record<string, readonly string[]>> = {
  contract: ['api-client', 'openapi'],
  fingerprint: ['deduplication', 'error-grouping', 'error-tracking', 'stack-trace'],
  sdk: ['cron', 'durable-execution', 'job-queue', 'queue', 'retries', 'scheduler', 'workflow'],
  server: ['cron', 'job-queue', 'queue', 'scheduler', 'self-hosted'],
  millrace: [
    'cli',
    'cron',
    'durable-execution',
    'job-queue',
    'queue',
    'scheduler',
    'self-hosted',
    'workflow',
  ],
  'create-millrace': ['cli', 'create', 'scaffolding', 'template'],
  react: ['hooks', 'nextjs', 'react', 'realtime'],
  testing: ['jest', 'testing', 'vitest'],
};

/** The fields of a package, by its folder. */
export const metadataOf = (folder: string) => ({
  keywords: [...shared, ...(keywords[folder] ?? [])].toSorted(),
  homepage: `${address}#readme`,
  bugs: { url: `${address}/issues` },
  author: 'The Millrace authors',
  repository: { type: 'git', url: `git+${address}.git`, directory: `packages/${folder}` },
  publishConfig: { access: 'public', provenance: true },
});

async function write(folder: string): Promise<void> {
  const file = join(root, 'packages', folder, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, `${JSON.stringify({ ...manifest, ...metadataOf(folder) }, null, 2)}\n`);
}

if (import.meta.main) {
  await Promise.all(publishedPackages.map(({ folder }) => write(folder)));
  if (process.argv.includes('--release') && isPlaceholder)
    throw new Error(`${address} is a placeholder: set the address of the repository in build/metadata.ts.`);
}
