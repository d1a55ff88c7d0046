/** The packed packages run a task with each supported Node, package manager and Node option. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finished, millrace, type RunOptions } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { installAll, npmOptions, packAll, packageName, published, run, type Packed } from './packed.ts';

let packed: Packed;
beforeAll(async () => {
  packed = await packAll();
}, 240_000);
afterAll(() => packed?.remove());

const double = `import { task } from '@millrace/sdk';
import { z } from 'zod';
export const double = task({ id: 'double', schema: z.number().int(), run: async (n) => 2 * n });
`;

/** The output of `double` in this project for 21. */
async function doubled(cwd: string, options: Pick<RunOptions, 'node' | 'env'> = {}): Promise<unknown> {
  await mkdir(join(cwd, 'tasks'), { recursive: true });
  await writeFile(join(cwd, 'tasks/double.ts'), double);
  const all = { ...options, cwd, bin: join(cwd, 'node_modules/millrace/bin/millrace.js') };
  const dev = millrace(['dev', '--json', '--port', '0'], all);
  try {
    await dev.line(/^\{"url"/);
    const { stdout, stderr } = await finished(
      ['trigger', 'double', '--payload', '21', '--wait', '--json'],
      all,
    );
    expect(stderr).toBe('');
    return (JSON.parse(stdout.split('\n').at(-1) ?? '') as { output?: unknown }).output;
  } finally {
    dev.kill('SIGTERM');
    expect(await dev.exitCode).toBe(0);
    await rm(join(cwd, '.millrace'), { recursive: true, force: true });
  }
}

test('Node options that change module resolution, and a missing optional package', async () => {
  const project = join(packed.folder, 'options');
  await installAll(packed, project);
  const NODE_OPTIONS =
    '--conditions=development --conditions=production --preserve-symlinks --preserve-symlinks-main --enable-source-maps';
  expect(await doubled(project, { env: { NODE_OPTIONS } })).toBe(42);

  const bin = join(project, 'node_modules/millrace/bin/millrace.js');
  const mcp = await finished(['mcp'], { cwd: project, bin });
  expect(mcp).toMatchObject({
    exitCode: 3,
    stderr: expect.stringMatching(
      /run `npm install --save-dev @modelcontextprotocol\/server@2`\.$/,
    ) as string,
  });
}, 240_000);

test('a program that imports zod and the contract has one copy of zod', async () => {
  const project = join(packed.folder, 'identity');
  await installAll(packed, project);
  const program = `import { operations } from '@millrace/contract';
import { z, ZodType } from 'zod';
const schemas = Object.values(operations).flatMap((operation) => Object.values(operation).filter((part) => part?._zod));
console.log(schemas.length > 0 && schemas.every((schema) => schema instanceof ZodType), z.array(schemas[0]).safeParse(1).error instanceof z.ZodError);
`;
  await writeFile(join(project, 'program.js'), program);
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: project });
  expect(stdout).toBe('true true\n');
}, 240_000);

describe.runIf(isLong)('with downloaded programs', () => {
  test.each(['20.19', '22', '24', '26'])(
    'Node %s',
    async (version) => {
      const program = join(packed.folder, `node-${version}`);
      await mkdir(program);
      await writeFile(join(program, 'package.json'), '{ "private": true }');
      await run('npm', ['install', ...npmOptions, '--ignore-scripts', `node@${version}`], { cwd: program });
      await run(process.execPath, ['node_modules/node/installArchSpecificPackage.js'], { cwd: program });
      const node = join(program, 'node_modules/node/bin/node');
      expect((await run(node, ['--version'])).stdout).toMatch(new RegExp(`^v${version}\\.`));
      const project = join(packed.folder, `project-${version}`);
      await installAll(packed, project);
      expect(await doubled(project, { node })).toBe(42);
    },
    300_000,
  );

  test.each([
    { program: 'pnpm@10', command: 'pnpm/bin/pnpm.cjs', args: ['install', '--ignore-scripts'] },
    { program: 'yarn@1', command: 'yarn/bin/yarn.js', args: ['install', '--ignore-scripts'] },
    {
      program: '@yarnpkg/cli-dist@4',
      command: '@yarnpkg/cli-dist/bin/yarn.js',
      args: ['install', '--no-immutable'],
    },
  ])(
    'the layout of $program',
    async ({ program, command, args }) => {
      const tools = join(packed.folder, `tools-${program.replaceAll(/\W/g, '-')}`);
      await mkdir(tools);
      await writeFile(join(tools, 'package.json'), '{ "private": true }');
      await run('npm', ['install', ...npmOptions, '--ignore-scripts', program], { cwd: tools });
      const project = join(tools, 'project');
      await mkdir(project);
      const files = Object.fromEntries(
        published.map((name) => [packageName(name), `file:${packed.tarballs[name]}`]),
      );
      const { millrace: own, '@millrace/sdk': sdk } = files;
      await writeFile(
        join(project, 'package.json'),
        JSON.stringify({
          name: 'far-away',
          version: '1.0.0',
          private: true,
          type: 'module',
          dependencies: { millrace: own, '@millrace/sdk': sdk, zod: '^4.0.0' },
          // The packages depend on each other in versions that are not in any registry yet.
          resolutions: files,
          pnpm: { overrides: files },
        }),
      );
      await writeFile(join(project, '.yarnrc.yml'), 'nodeLinker: node-modules\nenableScripts: false\n');
      await writeFile(join(project, 'yarn.lock'), '');
      await run(process.execPath, [join(tools, 'node_modules', command), ...args], { cwd: project });
      expect(await doubled(project)).toBe(42);
    },
    300_000,
  );
});
