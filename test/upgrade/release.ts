/** Earlier Millrace versions, from their packed packages. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { satisfies } from 'semver';
import { repository } from '../cli/command.ts';
import { run } from '../packages/packed.ts';

/** The versions from which an upgrade to the current one is tested. Each release has a line: its version, and its tag or commit. */
export const releases = [
  // Nothing was released before 0.1.0. This is the commit whose schema is the baseline.
  { version: 'before 0.1.0', commit: '706959ea7753136678076421c4c286b95171ba81' },
] as const;

export interface Release {
  /** The folder of its packages and their dependencies. */
  readonly nodeModules: string;
  readonly bin: string;
}

/** The reason why a commit cannot be built on this machine; undefined if it can. */
export function reasonToSkip(commit: string): string | undefined {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: repository, stdio: 'ignore' });
    return undefined;
  } catch {
    return `the repository does not have commit ${commit}: make a full clone`;
  }
}

/** Builds, packs and unpacks a version, or reuses the result of an earlier call on this machine. */
export async function installRelease(commit: string): Promise<Release> {
  const cache = join(repository, 'node_modules/.cache/millrace-releases');
  const folder = join(cache, commit);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const draft = await mkdtemp(join(cache, 'new-'));
    const source = await mkdtemp(join(tmpdir(), 'millrace-release-'));
    try {
      await build(commit, source);
      await install(await pack(source), draft);
      // Another run may have finished first.
      await rename(draft, folder).catch((error: unknown) => {
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(source, { recursive: true, force: true, maxRetries: 5 });
      await rm(draft, { recursive: true, force: true, maxRetries: 5 });
    }
  }
  const nodeModules = join(folder, 'node_modules');
  return { nodeModules, bin: join(nodeModules, 'millrace/bin/millrace.js') };
}

const packages = ['contract', 'fingerprint', 'sdk', 'server', 'millrace'];

/** Bundles its packages, with the tools of this checkout. Omits the dashboard, on which no upgrade depends. */
async function build(commit: string, source: string): Promise<void> {
  const script = `git -C "$1" archive "$2" packages build package.json package-lock.json tsconfig.base.json tsconfig.source.json | tar -x -C "$3"`;
  await run('sh', ['-ec', script, 'sh', repository, commit, source]);
  await mkdir(join(source, 'node_modules/@millrace'), { recursive: true });
  // Its packages import each other, and everything else from this checkout.
  for (const folder of await readdir(join(source, 'packages'))) {
    const { name } = await manifestOf(join(source, 'packages', folder));
    await symlink(join(source, 'packages', folder), join(source, 'node_modules', name));
  }
  for (const name of await readdir(join(repository, 'node_modules'))) {
    if (name === '@millrace' || name === 'millrace' || name === '.cache') continue;
    await symlink(join(repository, 'node_modules', name), join(source, 'node_modules', name));
  }
  await run(process.execPath, ['build/bundle.ts'], { cwd: source });
}

async function pack(source: string): Promise<string[]> {
  const workspaces = packages.flatMap((name) => ['-w', `packages/${name}`]);
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--silent', ...workspaces, '--pack-destination', source, '--ignore-scripts'],
    { cwd: source, maxBuffer: 64 * 1024 ** 2 },
  );
  return (JSON.parse(stdout) as { filename: string }[]).map(({ filename }) => join(source, filename));
}

/**
 * Unpacks the packages where npm would. Their dependencies are found in this checkout, further up; npm installs only those with
 * another version.
 */
async function install(tarballs: readonly string[], folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  const unpacked = join(folder, 'unpacked');
  const needed = new Map<string, string>();
  const found: { name: string; from: string }[] = [];
  for (const [at, tarball] of tarballs.entries()) {
    const from = join(unpacked, String(at));
    await mkdir(from, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', from, '--strip-components', '1']);
    const manifest = await manifestOf(from);
    found.push({ name: manifest.name, from });
    for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
      const isOwn = name.startsWith('@millrace/');
      if (!isOwn && !satisfies(await versionHere(name), range)) needed.set(name, range);
    }
  }
  if (needed.size > 0) {
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const specs = [...needed].map(([name, range]) => `${name}@${range}`);
    await run('npm', ['install', ...options, ...specs], { cwd: folder });
  }
  for (const { name, from } of found) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await rename(from, join(modules, name));
  }
}

const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function versionHere(name: string): Promise<string> {
  const file = join(repository, 'node_modules', name, 'package.json');
  const text = await readFile(file, 'utf8').catch(() => '{ "version": "0.0.0" }');
  return (JSON.parse(text) as Manifest).version;
}
