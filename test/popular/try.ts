/**
 * `npm run popular [-- <kind or name> …]`: uses the packages of test/popular/project in `dev` and deployed, and writes docs/packages.md.
 * Installs 3.5 GB first. With arguments, it uses only these packages and keeps the results of the others.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { finished, millrace, type Ready } from '../cli/command.ts';
import { pageOf, type Row } from './page.ts';
import { useAll, type Used } from './use-all.ts';

const dir = fileURLToPath(new URL('project', import.meta.url));
const results = fileURLToPath(new URL('results.json', import.meta.url));
const page = fileURLToPath(new URL('../../docs/packages.md', import.meta.url));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);

interface Deployed {
  readonly used: ReadonlyMap<string, Used>;
  /** The reasons why packages are not bundled, by name. */
  readonly reasons: ReadonlyMap<string, string>;
}

/** Uses each package in a deployed version that a runner has downloaded, outside the project. */
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
    const { exitCode, stdout, stderr } = await finished(['deploy', '--json', '--force'], { cwd: dir, env });
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
  // Hundreds of packages have conflicting peer dependencies.
  execFileSync('npm', ['ci', '--force', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: dir,
    stdio: 'inherit',
  });
const files = await readdir(join(dir, 'uses'), { recursive: true });
const all = files.filter((file) => file.endsWith('.mjs')).map((file) => file.slice(0, -'.mjs'.length));
const chosen = process.argv.slice(2);
const nameOf = (use: string): string => use.slice(use.indexOf('/') + 1);
const kindOf = (use: string): string => use.slice(0, use.indexOf('/'));
const uses = all
  .filter((use) => chosen.length === 0 || chosen.includes(nameOf(use)) || chosen.includes(kindOf(use)))
  .toSorted();
await rm(join(dir, 'chosen'), { recursive: true, force: true });
for (const use of uses) await cp(join(dir, 'uses', `${use}.mjs`), join(dir, 'chosen', `${use}.mjs`));
const installed = await versions();
// One project would not use all packages of a kind.
const dev = millrace(['dev', '--json', '--port', '0'], { cwd: dir, env: { MILLRACE_MAX_BUNDLE: '1GiB' } });
try {
  const ready = JSON.parse(await dev.line(/^\{"url"/)) as Ready;
  const { url, environments } = ready;
  const inDev = await useAll({ url, key: environments.dev.secretKey }, uses, progress);
  const { used, reasons } = await deployed(ready, uses, inDev);
  const rows = uses.map((use): Row => ({
    kind: kindOf(use),
    name: nameOf(use),
    version: installed.get(nameOf(use)) ?? '',
    date: new Date().toISOString().slice(0, 10),
    node: process.versions.node,
    why: reasons.get(nameOf(use)),
    dev: inDev.get(use) ?? {},
    deployed: used.get(use) ?? {},
  }));
  const before = existsSync(results) ? (JSON.parse(await readFile(results, 'utf8')) as Row[]) : [];
  const others = before.filter(
    ({ kind, name }) => all.includes(`${kind}/${name}`) && !uses.includes(`${kind}/${name}`),
  );
  const sorted = [...others, ...rows].toSorted((a, b) =>
    `${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1,
  );
  await writeFile(results, `${JSON.stringify(sorted, null, 2)}\n`);
  await writeFile(page, pageOf(sorted));
} finally {
  dev.kill('SIGTERM');
  await dev.exitCode;
}
