import { execFile, execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { millrace, repository } from '../cli/command.ts';
import { finished } from '../cli/in-process.ts';
import { secretsFromFiles } from '../../packages/millrace/src/cli/secret-files.ts';

const run = promisify(execFile);
const deploy = (path: string): string => join(repository, 'deploy', path);

const has = (program: string): boolean => {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};
const hasSystemd = has('systemd-analyze');
const hasCompose = has('docker-compose');
const unless = (isThere: boolean, name: string): string => (isThere ? '' : ` (skipped: install ${name})`);

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-deploy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A root file system with the units, and with a file where the units expect the program. */
async function rootWithUnits(): Promise<string> {
  const root = await temporaryFolder();
  const bin = join(root, 'opt/millrace/node_modules/.bin');
  const units = join(root, 'etc/systemd/system');
  for (const folder of [bin, units, join(root, 'lib/systemd/system')])
    await mkdir(folder, { recursive: true });
  await writeFile(join(bin, 'millrace'), '#!/bin/sh\n', { mode: 0o755 });
  for (const name of await readdir(deploy('systemd')))
    if (!name.endsWith('.conf')) await cp(deploy(`systemd/${name}`), join(units, name));
  // The units on which every unit depends by default.
  for (const name of ['sysinit', 'basic', 'shutdown', 'network-online', 'network', 'multi-user', 'timers'])
    await cp(`/lib/systemd/system/${name}.target`, join(root, `lib/systemd/system/${name}.target`));
  return root;
}

const verify = async (root: string, unit: string): Promise<string> => {
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', `--root=${root}`, unit]);
  return stdout + stderr;
};

test.skipIf(!hasSystemd)(
  `systemd finds no fault in the units, and rates their exposure low${unless(hasSystemd, 'systemd')}`,
  async () => {
    const root = await rootWithUnits();
    const units = join(root, 'etc/systemd/system');
    expect(await verify(root, 'millrace-server.service')).toBe('');
    expect(await verify(root, 'millrace-runner@prod.service')).toBe('');
    await mkdir(join(units, 'millrace-server.service.d'));
    await cp(
      deploy('systemd/millrace-embedded.conf'),
      join(units, 'millrace-server.service.d/embedded.conf'),
    );
    // The additional settings of docs/deploy.md for an identity provider.
    const page = await readFile(join(repository, 'docs/deploy.md'), 'utf8');
    const [, dropIn = ''] = /^ *```ini\n([\s\S]*?)```$/m.exec(page) ?? [];
    expect(dropIn).toContain('LoadCredential=oidc-client-secret:');
    await writeFile(join(units, 'millrace-server.service.d/override.conf'), dropIn);
    expect(await verify(root, 'millrace-server.service')).toBe('');
    expect(await verify(root, 'millrace-backup.service')).toBe('');
    expect(await verify(root, 'millrace-backup.timer')).toBe('');
    // The maximum is 100; a unit without settings has 96.
    for (const unit of ['millrace-server.service', 'millrace-runner@.service'])
      await run('systemd-analyze', ['security', '--offline=true', '--threshold=15', join(units, unit)]);
    const backup = join(units, 'millrace-backup.service');
    await run('systemd-analyze', ['security', '--offline=true', '--threshold=25', backup]);
  },
);

test.skipIf(!hasSystemd)(`systemd reports an unknown setting${unless(hasSystemd, 'systemd')}`, async () => {
  const root = await rootWithUnits();
  const text = await readFile(deploy('systemd/millrace-server.service'), 'utf8');
  const wrong = join(root, 'etc/systemd/system/wrong.service');
  await writeFile(wrong, text.replace('KillMode=', 'KillMod='));
  expect(await verify(root, 'wrong.service')).toContain("Unknown key 'KillMod'");
});

/** The arguments of the last ExecStart of a unit, with folders below `root`. */
async function argumentsOf(unit: string, root: string): Promise<string[]> {
  const text = await readFile(deploy(`systemd/${unit}`), 'utf8');
  const [, line = ''] = [...text.matchAll(/^ExecStart=\S*\/millrace (.+)$/gm)].at(-1) ?? [];
  return line.replaceAll('%S', root).split(' ');
}

test('the embedded server unit archives to the folder of the backup unit', async () => {
  const root = await temporaryFolder();
  const server = millrace([...(await argumentsOf('millrace-embedded.conf', root)), '--port', '0', '--json'], {
    cwd: root,
  });
  onTestFinished(async () => {
    server.kill('SIGTERM');
    await server.exitCode;
  });
  await server.line(/^\{"url"/);
  const backup = await argumentsOf('millrace-backup.service', root);
  const result = await finished(backup, { cwd: root });
  expect(result, result.stderr).toMatchObject({ exitCode: 0 });
  const folder = join(root, 'millrace-backups');
  expect((await readdir(folder)).toSorted()).toEqual(['base', 'system-id', 'wal']);
  const args = ['doctor', '--data', join(root, 'millrace'), '--backups', folder, '--port', '0', '--json'];
  const { checks } = JSON.parse((await finished(args, { cwd: root })).stdout) as {
    checks: { name: string; state: string }[];
  };
  const states = Object.fromEntries(checks.map(({ name, state }) => [name, state]));
  expect(states).toMatchObject({ 'backup-missing': 'ok', 'backup-age': 'ok', 'wal-archiving': 'ok' });
}, 60_000);

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      { readonly environment?: Readonly<Record<string, string>>; readonly secrets?: readonly string[] }
    >
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

test('the secrets script creates each secret of the Compose file once, readable by containers, in a folder of this user', async () => {
  const folder = join(await temporaryFolder(), 'secrets');
  const make = () => run('sh', [deploy('secrets.sh'), folder]);
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
  await make();
  const { secrets, services } = parse(await readFile(deploy('compose.yaml'), 'utf8'), {
    merge: true,
  }) as Compose;
  const created = await Promise.all(Object.keys(secrets).map(read));
  await make();
  expect(await Promise.all(Object.keys(secrets).map(read))).toEqual(created);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'master-key'))).mode & 0o777).toBe(0o444);
  expect(Object.values(secrets).map(({ file }) => file)).toEqual(
    Object.keys(secrets).map((name) => `./secrets/${name}`),
  );
  expect(await read('master-key')).toMatch(/^[\w+/]{43}=\n$/);
  expect(await read('prod-secret-key')).toMatch(/^svc_prod_sk_[0-9a-f]{24}\n$/);
  expect(await read('access-token')).toMatch(/^svc_pat_[1-9a-f]{40}\n$/);

  // Each variable with a file name is one that is read and names a file that the service gets.
  const known = new Set<string>(secretsFromFiles.map((name) => `${name}_FILE`));
  for (const [name, service] of Object.entries(services)) {
    for (const [variable, value] of Object.entries(service.environment ?? {})) {
      if (!variable.endsWith('_FILE')) continue;
      expect(
        service.secrets?.map((secret) => `/run/secrets/${secret}`),
        name,
      ).toContain(value);
      if (name !== 'postgres') expect(known, name).toContain(variable);
    }
  }
});

test.skipIf(!hasCompose)(
  `Compose accepts the file, and rejects a wrong one${unless(hasCompose, 'docker-compose')}`,
  async () => {
    const folder = await temporaryFolder();
    await run('sh', [deploy('secrets.sh'), join(folder, 'secrets')]);
    const file = join(folder, 'compose.yaml');
    const text = await readFile(deploy('compose.yaml'), 'utf8');
    // Debian's Compose predates the key `name`.
    const known = text.replace(/^name: .*$/m, '');
    const config = () => run('docker-compose', ['-f', file, 'config', '--quiet']);
    await writeFile(file, known);
    await config();
    await writeFile(file, known.replaceAll('read_only:', 'readonly:'));
    await expect(config()).rejects.toMatchObject({ stderr: expect.stringContaining("'readonly'") as string });
  },
);
