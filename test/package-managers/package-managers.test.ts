/** Real package managers install a workspace with native code, and it runs deployed, on a runner that never accesses a registry. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandsIn, startFetchingRunner, startInstallation } from '../deployments/installation.ts';
import type { Installation } from '../deployments/installation.ts';
import { installPrograms } from './programs.ts';
import { startRegistry, type Registry } from './registry.ts';
import { managersIn, native, installedWorkspace, type Workspace } from './workspace.ts';

await installPrograms();
const managers = managersIn();
let registry: Registry;
let installation: Installation;
beforeAll(async () => {
  registry = await startRegistry();
  installation = await startInstallation();
});
afterAll(async () => {
  await installation.stop();
  await registry.stop();
});

/** The command in the package with the task files. npm has an empty cache. */
const commands = ({ root, tasks }: Workspace, more: Readonly<Record<string, string>> = {}) =>
  commandsIn(tasks, {
    MILLRACE_API_URL: installation.url,
    MILLRACE_SECRET_KEY: installation.keys.prod,
    npm_config_cache: join(root, '.home/deploy'),
    ...more,
  });

/** The digest of the content of a project's only layer. */
async function layerDigest({ tasks }: Workspace): Promise<string> {
  const folder = join(tasks, '.millrace/layers');
  const name = (await readdir(folder)).find((file) => file.endsWith('.json')) ?? '';
  return (JSON.parse(await readFile(join(folder, name), 'utf8')) as { digest: string }).digest;
}

/** All of them build the same layer. */
let expected: string | undefined;

test.each(Object.entries(managers).filter(([name]) => !name.endsWith('pnp')))(
  '%s: a deployed workspace runs, and rejects a lockfile that differs from the installed packages',
  async (_, manager) => {
    const workspace = await installedWorkspace(manager, registry);
    const project = commands(workspace);
    await startFetchingRunner(installation, installation.keys.prod);
    const requests = registry.requests.length;
    const deployed = await project.run('deploy');
    expect(deployed, deployed.stderr).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
    expect(deployed.json.external).toMatchObject([{ name: native }]);
    // npm also installs packages for other platforms; the others installed theirs before.
    if (manager.lockfile !== 'package-lock.json') expect(registry.requests.length).toBe(requests);
    expected ??= await layerDigest(workspace);
    expect(await layerDigest(workspace)).toBe(expected);
    const requestsOfDeployment = registry.requests.length;
    const triggered = await project.run('trigger', 'checksum', '--wait');
    expect(triggered.json.output).toBe(3_896_333_035);
    expect(registry.requests.length).toBe(requestsOfDeployment);

    await workspace.write('packages/tasks/millrace.config.ts', withPlatform('linux-arm64-glibc'));
    const otherPlatform = await project.run('deploy', '--dry-run');
    if (manager.lockfile === 'package-lock.json')
      expect(otherPlatform.json.layers).toMatchObject([{ platform: 'linux-arm64-glibc' }]);
    else {
      expect(otherPlatform.exitCode).toBe(3);
      expect(otherPlatform.stderr).toMatch(manager.otherPlatform);
    }

    await rm(join(workspace.tasks, 'millrace.config.ts'));
    const lockfile = join(workspace.root, manager.lockfile);
    const locked = await readFile(lockfile, 'utf8');
    await workspace.write(manager.lockfile, locked.replaceAll('1.10.8', '1.10.7'));
    const stale = await project.run('deploy', '--dry-run');
    expect(stale.exitCode).toBe(3);
    expect(stale.stderr).toContain(lockfile);
    expect(stale.stderr).toMatch(/1\.10\.8.*run `\w+ install`/);
  },
  120_000,
);

const withPlatform = (platform: string): string =>
  `export default { build: { platforms: ['${platform}'] } };`;

test('a layer for another platform contains the packages of supportedArchitectures in pnpm', async () => {
  const manager = managers['pnpm, isolated'];
  const workspace = await installedWorkspace(manager, registry);
  await workspace.write('packages/tasks/millrace.config.ts', withPlatform('linux-arm64-glibc'));
  const settings = await readFile(join(workspace.root, 'pnpm-workspace.yaml'), 'utf8');
  await workspace.write(
    'pnpm-workspace.yaml',
    `${settings}supportedArchitectures:\n  os: [current, linux]\n  cpu: [current, arm64]\n  libc: [current, glibc]\n`,
  );
  await workspace.install();
  const { json, stderr } = await commands(workspace).run('deploy', '--dry-run');
  expect(json?.layers, stderr).toMatchObject([
    { platform: 'linux-arm64-glibc', packages: [`${native}@1.10.8`, `${native}-linux-arm64-gnu@1.10.8`] },
  ]);
}, 60_000);

test("rejects Plug'n'Play, with the setting that replaces it", async () => {
  const workspace = await installedWorkspace(managers['yarn 4, pnp'], registry);
  for (const command of [['deploy', '--dry-run'], ['work']]) {
    const { exitCode, stderr } = await commands(workspace).run(...command);
    expect(exitCode).toBe(3);
    expect(stderr).toContain(join(workspace.root, '.pnp.cjs'));
    expect(stderr).toContain('set `nodeLinker: node-modules`');
  }
}, 60_000);

test('rejects two lockfiles, a refused token and a missing npm', async () => {
  const workspace = await installedWorkspace(managers.npm, registry);
  const dryRun = (more?: Readonly<Record<string, string>>) =>
    commands(workspace, more).run('deploy', '--dry-run');

  await workspace.write('yarn.lock', '');
  const two = await dryRun();
  expect(two).toMatchObject({ exitCode: 3 });
  expect(two.stderr).toContain(`${workspace.root} has package-lock.json and yarn.lock: delete`);
  await rm(join(workspace.root, 'yarn.lock'));

  const nested = join(workspace.tasks, 'package-lock.json');
  await workspace.write('packages/tasks/package-lock.json', '{"lockfileVersion":3,"packages":{"":{}}}');
  const below = await dryRun();
  expect(below).toMatchObject({ exitCode: 3 });
  expect(below.stderr).toContain(
    `If it was installed from ${join(workspace.root, 'package-lock.json')}, delete ${nested}`,
  );
  await rm(nested);

  const withoutNpm = await dryRun({ PATH: '/nowhere' });
  expect(withoutNpm).toMatchObject({ exitCode: 3 });
  expect(withoutNpm.stderr).toMatch(/installed by npm, which was not found: install npm/);

  await workspace.write('.npmrc', `registry=${registry.url}/\n`);
  const refused = await dryRun();
  expect(refused).toMatchObject({ exitCode: 3 });
  expect(refused.stderr).toMatch(/`npm ci` failed .*E401/s);
  expect(refused.stderr).toContain(join(workspace.root, '.npmrc'));
}, 60_000);
