/** The parts of the bundles that commands and executor processes load, which determine their start time. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const built = (path: string): string => new URL(`../../packages/${path}`, import.meta.url).href;

/**
 * The chunk of the bundle with the code of a source file. Chunks of earlier builds are kept for an hour; the newest is from the last build.
 */
function chunkWith(source: string): string {
  const chunks = new URL('../../packages/millrace/dist/chunks/', import.meta.url);
  const [newest] = readdirSync(chunks)
    .filter((name) => name.endsWith('.js'))
    .map((name) => new URL(name, chunks))
    .filter((chunk) => readFileSync(chunk, 'utf8').includes(`// ${source}\n`))
    .toSorted((a, other) => statSync(other).mtimeMs - statSync(a).mtimeMs);
  if (newest === undefined) throw new Error(`No chunk has ${source}.`);
  return newest.href;
}

/** The modules that Node.js loads for these files: those in our bundles, such as `packages/sdk/src/index.ts`, and built-in ones. */
function loadedBy(files: readonly string[]): string[] {
  const script = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load(url, context, next) { files.push(url); return next(url, context); } });
    for (const url of ${JSON.stringify(files)}) await import(url);
    console.log(JSON.stringify({ files, own: process.moduleLoadList }));
    process.exit();`;
  const loaded = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      // An executor reads its messages from a fourth stream.
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    }),
  ) as { files: string[]; own: string[] };
  const modules = loaded.files
    .filter((url) => url.startsWith('file:'))
    .flatMap((url) => [
      ...readFileSync(fileURLToPath(url), 'utf8').matchAll(/^\/\/ ((?:packages|node_modules)\/\S+)$/gm),
    ])
    .map(([, path = '']) => path);
  return [...modules, ...loaded.files, ...loaded.own];
}

test('a process with tasks starts without the modules that only its runner or its first call needs', () => {
  const loaded = loadedBy([built('millrace/dist/executor/main.js'), built('sdk/dist/executor/index.js')]);
  expect(loaded).toContain('packages/runner/src/executor/serving.ts');
  expect(loaded.some((name) => name.startsWith('packages/sdk/src/'))).toBe(true);
  expect(loaded.filter((name) => name.startsWith('packages/compat/'))).toEqual([]);
  expect(loaded.filter((name) => /\/zod\/|undici|NativeModule (?:tls|http|https)$/.test(name))).toEqual([]);
});

test('a runner of deployed versions starts without the server, PostgreSQL, the bundler and the modules for projects of the published SDK', () => {
  const loaded = loadedBy([
    built('millrace/dist/cli/main.js'),
    chunkWith('packages/millrace/src/cli/compose/work.ts'),
  ]);
  expect(loaded).toContain('packages/millrace/src/cli/compose/work.ts');
  expect(loaded).toContain('packages/runner/src/runner/start.ts');
  expect(loaded.filter((name) => /\/(?:fastify|pg|prom-client|@opentelemetry)\//.test(name))).toEqual([]);
  const bundler =
    /(?:^|\/)node_modules\/(?:esbuild|acorn|chokidar)\/|^packages\/millrace\/src\/(?:bundle|deploy|serve-folder)\//;
  expect(
    loaded.filter((name) => bundler.test(name) || /^packages\/(?:postgres|compat)\//.test(name)),
  ).toEqual([]);
});

test('a command that calls the API starts without the schemas of its operations', () => {
  const loaded = loadedBy([
    built('millrace/dist/cli/main.js'),
    chunkWith('packages/millrace/src/cli/commands/runs.ts'),
    built('sdk/dist/index.js'),
  ]);
  expect(loaded).toContain('packages/millrace/src/cli/commands/runs.ts');
  expect(loaded.filter((name) => /\/zod\/|contract\/src\/operations/.test(name))).toEqual([]);
});
