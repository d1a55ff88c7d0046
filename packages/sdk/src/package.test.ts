import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sdkVersion } from './sdk-version.ts';

const here = new URL('.', import.meta.url);
const sources = readdirSync(here, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith('testing'),
);
/** The modules that a file imports at run time: `import type` and inline types are erased. */
const importsOf = (path: string) =>
  [
    ...readFileSync(new URL(path, here), 'utf8').matchAll(
      /^(?:import|export) (?!type)[^;]*?from '([^.'][^']*)'/gm,
    ),
  ].map(([, name]) => name);

test('requests name the version of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', here), 'utf8')) as {
    version: string;
  };
  expect(sdkVersion).toBe(version);
});

test('nothing but the executor, the codecs and the transport on Node needs Node', () => {
  expect(sources.length).toBeGreaterThan(20);
  const needing = sources.filter((path) =>
    /^import (?!type).* from 'node:|\bgetBuiltinModule\(/m.test(readFileSync(new URL(path, here), 'utf8')),
  );
  expect(needing.toSorted()).toEqual([
    'codec/aes-gcm.ts',
    'codec/key-source.ts',
    'executor/execute.ts',
    'executor/run-attempt.ts',
    'executor/tracing/attempt-trace.ts',
    'executor/tracing/context.ts',
    'transport/node.ts',
  ]);
});

test('loads nothing but superjson and small modules of the contract', () => {
  const foreign = new Set(sources.flatMap(importsOf).filter((name) => !name!.startsWith('node:')));
  expect(foreign).toEqual(
    new Set([
      '@millrace/contract/environment',
      '@millrace/contract/event-stream',
      '@millrace/contract/help',
      '@millrace/contract/larger-machine',
      '@millrace/contract/metadata',
      '@millrace/contract/plain',
      '@millrace/contract/spans',
      'superjson',
    ]),
  );
});
