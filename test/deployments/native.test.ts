import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLong } from '../support/long.ts';
import { temporary } from '../support/deployment.ts';
import { startFetchingRunner, startInstallation, taskFile, type Installation } from './installation.ts';
import { nativeProject, openPrisma, prisma, prismaFiles } from './native-project.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());

// popular.test.ts does the same with other packages, and always.
test.runIf(isLong)(
  'a project with npm engines and a workspace package is deployed from the npm cache, and runs where nothing is installed',
  async () => {
    const { keys } = installation;
    const packages = { sharp: '^0.34.0', esbuild: '^0.28.0', ...prisma };
    const project = await nativeProject(installation, keys.prod, packages, {
      ...prismaFiles,
      'packages/shared/index.ts': 'export const width: number = 12;',
      'tasks/image.ts': taskFile(
        'image',
        "(await sharp({ create: { width, height: 5, channels: 3, background: 'red' } }).png().toBuffer()).subarray(1, 4).toString() + width",
        "import sharp from 'sharp';\nimport { width } from 'shared';",
      ),
      'tasks/compile.ts': taskFile(
        'compile',
        "(await transform('const a: number = 1', { loader: 'ts' })).code.trim()",
        "import { transform } from 'esbuild';",
      ),
      'tasks/users.ts': `
      import { task } from '@millrace/sdk';
      import { width } from 'shared';
      ${openPrisma}
      export const users = task({ id: 'users', run: async (payload: { file: string; name: string }) => {
        const prisma = await openUsers(payload.file);
        await prisma.user.create({ data: { name: payload.name } });
        const names = await prisma.user.findMany({ select: { name: true }, orderBy: { id: 'asc' } });
        await prisma.$disconnect();
        return { width, names: names.map(({ name }) => name) };
      } });`,
    });
    await startFetchingRunner(installation, keys.prod);
    const deployed = await project.run('deploy');
    expect(deployed, deployed.stderr).toMatchObject({ exitCode: 0, json: { isCurrent: true } });
    // Each package with an install script is named in allowScripts.
    expect(deployed.stderr).not.toContain('warning');
    const { version } = deployed.json;
    const result = await project.run('versions', 'show', version);
    expect(result.json).toMatchObject({ platforms: ['linux-x64-glibc'], runners: 1 });
    const output = async (task: string, payload = {}): Promise<unknown> =>
      (await project.run('trigger', task, '--wait', '--payload', JSON.stringify(payload))).json.output;
    const file = join(await temporary(), 'users.db');
    expect(await output('image')).toBe('PNG12');
    expect(await output('compile')).toBe('const a = 1;');
    expect(await output('users', { file, name: 'ann' })).toEqual({ width: 12, names: ['ann'] });

    // The lockfile is the same, so npm is not started and the layer is not uploaded again.
    await project.write('packages/shared/index.ts', 'export const width: number = 13;');
    const again = await project.run('deploy');
    expect(again.json.isCurrent).toBe(true);
    expect(again.json.sentBytes).toBeLessThan(deployed.json.sentBytes * 0.05);
    expect(await output('image')).toBe('PNG13');
    expect(await output('users', { file, name: 'bob' })).toEqual({ width: 13, names: ['ann', 'bob'] });

    expect(await project.run('versions', 'rollback')).toMatchObject({ exitCode: 0, json: { version } });
    expect(await output('users', { file, name: 'cid' })).toEqual({ width: 12, names: ['ann', 'bob', 'cid'] });
  },
  240_000,
);
