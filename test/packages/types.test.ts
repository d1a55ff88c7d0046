/** A project that imports the packed packages compiles under each kind of module resolution and TypeScript 5.0 to 7. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version as ts7 } from 'typescript';
import { repository } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { copyModules, npmOptions, packAll, run, type Packed } from './packed.ts';

/** The oldest version; in a long run also those between it and the newest. */
const compilers: Readonly<Record<string, string>> = {
  'typescript-5.0': '5.0.4',
  ...(isLong && { 'typescript-5.9': '5.9.3', 'typescript-6': '6.0.3' }),
};

/** TypeScript 7 is the repository's own, which saves its installation. */
const all = { ...compilers, typescript: ts7 };

/** TypeScript 7 no longer has `node10`. */
const resolutions = [
  { name: 'node10', options: { module: 'commonjs', moduleResolution: 'node' }, until: 6 },
  { name: 'node16', options: { module: 'node16', moduleResolution: 'node16' }, until: 7 },
  { name: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler' }, until: 7 },
] as const;

/** Each kind of resolution that the newest version has, is tested with that version; in a long run also with the older ones. */
const triedWith = (major: number) =>
  resolutions.filter(({ until }) => major <= until && (isLong || major === 7 || until < 7));

const source = `import { defineConfig } from 'millrace';
import { logger, metadata, runs, schedules, task, tasks, wait } from '@millrace/sdk';
import { operations } from '@millrace/contract';
import { nextRun } from '@millrace/contract/cron';
import { fingerprint } from '@millrace/fingerprint';
import { startServer } from '@millrace/server';

export default defineConfig({ dirs: ['./tasks'], retry: { maxAttempts: 2 } });

export const hello = task({
  id: 'hello',
  retry: { maxAttempts: 3 },
  run: async (payload: { name: string }, { ctx }) => {
    logger.info('Saying hello', { attempt: ctx.attempt.number });
    metadata.set('progress', 0.5);
    await wait.for({ seconds: 1 });
    return { length: payload.name.length };
  },
});

export const report = schedules.task({
  id: 'report',
  cron: '0 9 * * *',
  run: async ({ timestamp }) => timestamp.toISOString(),
});

export async function use(): Promise<number> {
  const handle = await tasks.trigger<typeof hello>('hello', { name: 'Ada' });
  // @ts-expect-error: the payload has a name, a string
  await tasks.trigger<typeof hello>('hello', { name: 1 });
  const run = await runs.poll(handle);
  const length: number | undefined = run.output?.length;
  // @ts-expect-error: the output has no such member
  run.output?.width;
  return (length ?? 0) + Object.keys(operations).length + nextRun.length + fingerprint({}).id.length + startServer.length;
}
`;

/** Removes errors in third-party packages, with the indented lines below them: these packages require newer compilers. */
const withoutOthers = (output: string): string =>
  output.replaceAll(/^node_modules\/(?!millrace\/|@millrace\/).*\n(?:[ \t].*\n)*/gm, '');

let packed: Packed;
let project: string;

beforeAll(async () => {
  packed = await packAll();
  project = join(packed.folder, 'project');
  await mkdir(project);
  const aliases = Object.entries(compilers).map(([alias, version]) => `${alias}@npm:typescript@${version}`);
  await writeFile(join(project, 'package.json'), '{ "name": "typed", "private": true, "type": "module" }');
  await writeFile(join(project, 'use.ts'), source);
  await copyModules(packed, project);
  await run(
    'npm',
    [
      'install',
      ...npmOptions,
      '--ignore-scripts',
      ...Object.values(packed.tarballs),
      // The last version that TypeScript 5.0 reads.
      '@types/node@20',
      ...aliases,
    ],
    { cwd: project },
  );
}, 240_000);
afterAll(() => packed?.remove());

describe.each(Object.entries(all))('%s (%s)', (alias, version) => {
  const major = Number.parseInt(version, 10);
  test.each(triedWith(major))(
    'compiles it with moduleResolution $name',
    async ({ name, options }) => {
      // Reading our declarations completely takes the newest compiler ten seconds, and the oldest half a minute.
      const checksDeclarations =
        (alias === 'typescript' && (isLong || name === 'node16')) ||
        (isLong && alias === 'typescript-5.0' && name === 'node10');
      const config = `tsconfig.${alias}.${name}.json`;
      const compilerOptions = {
        ...options,
        ...(major === 6 && name === 'node10' && { ignoreDeprecations: '6.0' }),
        target: 'es2022',
        lib: ['es2022'],
        types: ['node'],
        strict: true,
        noEmit: true,
        skipLibCheck: !checksDeclarations,
      };
      await writeFile(join(project, config), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
      const tsc = join(alias === 'typescript' ? repository : project, 'node_modules', alias, 'bin/tsc');
      const output = await run(process.execPath, [tsc, '-p', config], { cwd: project }).then(
        () => '',
        (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
      );
      expect(checksDeclarations ? withoutOthers(output) : output).toBe('');
    },
    120_000,
  );
});
