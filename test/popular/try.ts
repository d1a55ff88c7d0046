/**
 * `npm run popular [-- <name> …]`: uses the packages of test/popular/project in `dev` and deployed, and writes docs/packages.md. Installs
 * 3.5 GB first. With names, only these are used and nothing is written.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { globSync } from 'tinyglobby';
import { finished, millrace, startDev, type Ready } from '../cli/command.ts';
import { pageOf } from './page.ts';
import { useAll, type Used } from './use-all.ts';

const dir = fileURLToPath(new URL('project', import.meta.url));
const page = fileURLToPath(new URL('../../docs/packages.md', import.meta.url));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

interface Deployed {
  readonly used: ReadonlyMap<string, Used>;
  /** Why packages are not bundled. */
  readonly reasons: ReadonlyMap<string, string>;
}

/** Uses each in a version that a runner has downloaded, far from the project. */
async function deployed(
  { url, environments }: Ready,
  names: readonly string[],
  inDev: ReadonlyMap<string, Used>,
): Promise<Deployed> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-popular-'));
  const target = { url, key: environments.prod.secretKey };
  const env = { MILLRACE_API_URL: url, MILLRACE_SECRET_KEY: target.key };
  const runner = millrace(['work', '--json', '--cache', join(folder, 'cache')], { cwd: folder, env });
  try {
    await runner.line(/^\{"runner"/);
    const { exitCode, stdout, stderr } = await finished(['deploy', '--json'], { cwd: dir, env });
    progress(stderr);
    if (exitCode !== 0) throw new Error('The project could not be deployed.');
    const { external } = JSON.parse(stdout.split('\n').at(-1) ?? '') as {
      external: readonly { readonly name: string; readonly why: string }[];
    };
    const isOther = (name: string, used: Used): boolean => !isDeepStrictEqual(used, inDev.get(name));
    return {
      used: await useAll(target, names, progress, isOther),
      reasons: new Map(external.map(({ name, why }) => [name, why])),
    };
  } finally {
    runner.kill('SIGTERM');
    await runner.exitCode;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function versions(): Promise<Map<string, string>> {
  const { packages } = JSON.parse(await readFile(join(dir, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  return new Map(
    Object.entries(packages).map(([at, { version = '' }]) => [at.slice('node_modules/'.length), version]),
  );
}

if (!existsSync(join(dir, 'node_modules')))
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: dir, stdio: 'inherit' });
const all = globSync('**/*.mjs', { cwd: join(dir, 'uses') }).map((file) => file.slice(0, -'.mjs'.length));
const chosen = process.argv.slice(2);
const nameOf = (use: string): string => use.slice(use.indexOf('/') + 1);
const uses = all.filter((use) => chosen.length === 0 || chosen.includes(nameOf(use))).toSorted();
const installed = await versions();
const dev = await startDev(dir);
try {
  const { url, environments } = dev.ready;
  const inDev = await useAll({ url, key: environments.dev.secretKey }, uses, progress);
  const { used, reasons } = await deployed(dev.ready, uses, inDev);
  const rows = uses.map((use) => ({
    kind: use.slice(0, use.indexOf('/')),
    name: nameOf(use),
    version: installed.get(nameOf(use)) ?? '',
    why: reasons.get(nameOf(use)),
    dev: inDev.get(use) ?? {},
    deployed: used.get(use) ?? {},
  }));
  if (chosen.length === 0) await writeFile(page, pageOf(rows));
  process.stdout.write(`${JSON.stringify(rows)}\n`);
} finally {
  dev.kill('SIGTERM');
  await dev.exitCode;
}
