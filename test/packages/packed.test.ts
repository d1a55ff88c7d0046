import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finished, startDev } from '../cli/command.ts';
import { copyModules, installAll, npmOptions, packAll, run } from './packed.ts';

/** The fields of a bill of materials that the test reads. */
interface Bom {
  readonly components: readonly {
    readonly name: string;
    readonly licenses?: readonly {
      readonly license?: { readonly id?: string };
      readonly expression?: string;
    }[];
  }[];
}

/** Licenses that only require their text in copies. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
]);

function withOtherLicenses({ components }: Bom): string[] {
  expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['esbuild', 'zod']));
  return components.flatMap(({ name, licenses = [] }) => {
    const names = licenses.map(({ license, expression }) => license?.id ?? expression ?? 'none');
    return names.length > 0 && names.every((license) => permissive.has(license))
      ? []
      : [`${name}: ${names.join(', ')}`];
  });
}

/** Packages with another license in the bundles of `server` and `millrace`, as in their notices. */
async function bundledWithOtherLicenses(modules: string): Promise<string[]> {
  const notices = await Promise.all(
    ['@millrace/server', 'millrace'].map((name) =>
      readFile(join(modules, name, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8'),
    ),
  );
  const headings = [...notices.join('\n').matchAll(/^(\S+ \d\S*) \((.+)\)$/gm)];
  expect(headings.map(([, name = '']) => name.split(' ')[0])).toEqual(
    expect.arrayContaining(['fastify', 'pg', 'commander']),
  );
  return headings.flatMap(([heading, , license = '']) => (permissive.has(license) ? [] : [heading]));
}

test('a folder with one task file runs on packages installed from npm pack, far from the repository', async () => {
  const packed = await packAll();
  const { folder, tarballs, remove } = packed;
  try {
    const project = join(folder, 'project');
    await installAll(packed, project);
    await mkdir(join(project, 'tasks'));
    await writeFile(
      join(project, 'tasks/double.ts'),
      `import { task } from '@millrace/sdk';\nexport const double = task({ id: 'double', run: async (n: number) => 2 * n });\n`,
    );
    const { stdout: bom } = await run('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
      cwd: project,
      maxBuffer: 16 * 1024 * 1024,
    });
    expect(withOtherLicenses(JSON.parse(bom) as Bom)).toEqual([]);
    expect(await bundledWithOtherLicenses(join(project, 'node_modules'))).toEqual([]);

    const bin = join(project, 'node_modules/millrace/bin/millrace.js');
    // Messages about a missing optional package contain the command that installs it.
    const refusal = async (env: Record<string, string> = {}): Promise<string> => {
      const { exitCode, stderr } = await finished(['dev', '--port', '0'], { cwd: project, bin, env });
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 3 });
      return stderr.trim().split('\n').at(-1) ?? '';
    };
    expect(await refusal({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).toMatch(
      /the OpenTelemetry packages are not installed\. Run `npm install @opentelemetry\/api@1 /,
    );
    const esbuild = join(project, 'node_modules/@esbuild');
    await rename(esbuild, join(folder, 'esbuild'));
    expect(await refusal()).toMatch(
      /@esbuild\/[\w-]+, which is not installed: run `npm install --save-exact @esbuild\/[\w-]+@[\d.]+`/,
    );
    await rename(join(folder, 'esbuild'), esbuild);

    const dev = await startDev(project, [], bin);
    try {
      const args = ['trigger', 'double', '--payload', '21', '--wait', '--json'];
      const { stdout, stderr } = await finished(args, { cwd: project, bin });
      expect({ ...(JSON.parse(stdout.split('\n').at(-1) ?? '') as object), stderr }).toMatchObject({
        status: 'COMPLETED',
        output: 42,
        stderr: '',
      });
    } finally {
      dev.kill('SIGTERM');
      expect(await dev.exitCode).toBe(0);
    }

    // The files of `init` have correct types, checked by the compiler that it installs.
    expect((await finished(['init', 'first'], { cwd: folder, bin })).exitCode).toBe(0);
    const first = join(folder, 'first');
    // npm then only adds the compiler and its types.
    await copyModules(packed, first);
    await run('npm', ['install', ...npmOptions, ...Object.values(tarballs)], { cwd: first });
    await run('npm', ['run', 'types'], { cwd: first });
    await writeFile(join(first, 'tasks/wrong.ts'), "export const wrong: number = 'a text';\n");
    await expect(run('npm', ['run', 'types'], { cwd: first })).rejects.toMatchObject({
      stdout: expect.stringMatching(/tasks\/wrong\.ts.*not assignable to type 'number'/) as string,
    });
  } finally {
    await remove();
  }
}, 360_000);
