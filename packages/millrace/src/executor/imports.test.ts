import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const built = (path: string): string => new URL(`../../../${path}`, import.meta.url).href;

/** What Node loads for these modules: their files, and parts of its own. */
function loadedBy(modules: readonly string[]): string[] {
  const script = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load(url, context, next) { files.push(url); return next(url, context); } });
    for (const url of ${JSON.stringify(modules)}) await import(url);
    console.log(JSON.stringify([...files, ...process.moduleLoadList]));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as string[];
}

test('a process with tasks starts without what only its runner or its first call needs', () => {
  const loaded = loadedBy([built('millrace/dist/executor/serving.js'), built('sdk/dist/executor/index.js')]);
  expect(loaded.filter((name) => name.includes('/dist/')).length).toBeGreaterThan(10);
  // What a project without tasks of the published SDK does not need.
  expect(loaded.filter((name) => name.includes('/published/'))).toEqual([]);
  expect(loaded.filter((name) => /\/zod\/|undici|NativeModule (?:tls|http|https)$/.test(name))).toEqual([]);
});

test('a runner starts without the server', () => {
  const loaded = loadedBy([built('millrace/dist/cli/compose/work.js')]);
  expect(loaded.filter((name) => name.includes('/dist/')).length).toBeGreaterThan(10);
  expect(
    loaded.filter((name) => /node_modules\/(?:fastify|pg|prom-client|@opentelemetry)\//.test(name)),
  ).toEqual([]);
});

test('a command that calls the API starts without the schemas of its operations', () => {
  const loaded = loadedBy([built('millrace/dist/cli/program.js'), built('millrace/dist/cli/call.js')]);
  expect(loaded.filter((name) => name.includes('/dist/cli/')).length).toBeGreaterThan(10);
  expect(loaded.filter((name) => /\/zod\/|contract\/dist\/operations/.test(name))).toEqual([]);
});
