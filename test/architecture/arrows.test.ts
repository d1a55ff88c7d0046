import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Which workspace packages a package may import. Nothing imports `millrace`. */
const packageArrows: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  sdk: ['contract'],
  server: ['contract'],
  millrace: ['server', 'sdk', 'contract'],
};

/** Which rooms of the server a room may import, beside its own. */
const everywhere = new Set(['json', 'logger', 'problem', 'request']);
const roomArrows: Readonly<Record<string, readonly string[]>> = {
  server: ['pause', 'app', 'http', 'runs', 'versions', 'protocols', 'packets', 'tenancy', 'auth', 'db'],
  app: [
    'pause',
    'http',
    'jobs',
    'runs',
    'versions',
    'runners',
    'queues',
    'errors',
    'auth',
    'tenancy',
    'audit',
    'db',
    'schedules',
    'batches',
    'events',
    'notifications',
    'waitpoints',
    'log',
    'realtime',
    'protocols',
    'sessions',
    'envvars',
    'tracing',
    'packets',
  ],
  index: ['server', 'http', 'auth', 'tenancy', 'db', 'runs', 'schedules', 'envvars'],
  http: ['auth', 'db'],
  jobs: ['db'],
  runs: [
    'queues',
    'errors',
    'versions',
    'runners',
    'envvars',
    'packets',
    'tracing',
    'audit',
    'jobs',
    'auth',
    'db',
  ],
  log: ['protocols', 'jobs', 'db'],
  protocols: ['log', 'auth', 'db'],
  realtime: ['protocols', 'sessions', 'log', 'runs', 'envvars', 'auth', 'db'],
  sessions: ['log', 'protocols', 'runs', 'runners', 'versions', 'envvars', 'jobs', 'auth', 'db'],
  schedules: ['runs', 'runners', 'versions', 'audit', 'jobs', 'auth', 'db'],
  batches: ['runs', 'errors', 'jobs', 'auth', 'db'],
  events: ['runs', 'versions', 'jobs', 'auth', 'db'],
  notifications: ['audit', 'jobs', 'auth', 'db'],
  waitpoints: ['runs', 'jobs', 'auth', 'db'],
  envvars: ['audit', 'auth', 'db'],
  packets: ['jobs', 'auth', 'db'],
  versions: ['audit', 'jobs', 'auth', 'db'],
  runners: [],
  queues: ['audit', 'auth', 'db'],
  errors: ['audit', 'jobs', 'auth', 'db'],
  tenancy: ['audit', 'jobs', 'auth', 'db'],
  audit: ['jobs', 'auth', 'db'],
  pause: ['audit', 'auth', 'db'],
  tracing: [],
  auth: ['db'],
  db: [],
  json: [],
  logger: [],
  problem: [],
  request: ['auth'],
};

interface Import {
  readonly from: string;
  readonly to: string;
}

function importsBelow(folder: string): Import[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/testing/') && !file.includes('/corpus/'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?<!['/\w])(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
        (match) => ({
          from: file,
          to: match[1] as string,
        }),
      ),
    );
}

const workspaceName = (specifier: string): string | undefined =>
  specifier.startsWith('@millrace/')
    ? specifier.split('/')[1]
    : specifier === 'millrace'
      ? 'millrace'
      : undefined;

describe('the arrows of the house', () => {
  for (const [name, allowed] of Object.entries(packageArrows)) {
    test(`${name} imports only ${allowed.length > 0 ? allowed.join(', ') : 'nothing'} of the workspace`, () => {
      const imports = importsBelow(join(root, 'packages', name, 'src'));
      expect(imports.length).toBeGreaterThan(0);
      const wrong = imports.filter(({ to }) => {
        const target = workspaceName(to);
        return target !== undefined && target !== name && !allowed.includes(target);
      });
      expect(wrong).toEqual([]);
    });
  }

  test('contract needs zod and nothing else', () => {
    const wrong = importsBelow(join(root, 'packages/contract/src')).filter(
      ({ to }) => !to.startsWith('.') && to !== 'zod',
    );
    expect(wrong).toEqual([]);
  });

  test('a room of the server imports only the rooms below it', () => {
    const source = join(root, 'packages/server/src');
    const roomOf = (file: string): string =>
      (relative(source, file).split('/')[0] as string).replace(/\.ts$/, '');
    const wrong = importsBelow(source)
      .filter(({ to }) => to.startsWith('.'))
      .map(({ from, to }) => ({
        file: relative(source, from),
        from: roomOf(from),
        to: roomOf(resolve(dirname(from), to)),
      }))
      .filter(({ from, to }) => from !== to && !everywhere.has(to) && !(roomArrows[from] ?? []).includes(to));
    expect(wrong).toEqual([]);
  });

  test('only http knows the HTTP framework', () => {
    const wrong = importsBelow(join(root, 'packages/server/src'))
      .filter(({ to }) => to === 'fastify' || to.startsWith('@fastify/') || to === 'ws')
      .filter(({ from }) => !from.includes('/server/src/http/'));
    expect(wrong).toEqual([]);
  });
});
