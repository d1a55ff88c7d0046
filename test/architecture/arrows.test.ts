import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Which workspace packages a package may import. Nothing imports `millrace`. */
const packageArrows: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  sdk: ['contract'],
  server: ['contract'],
  millrace: ['server', 'sdk', 'contract'],
};

/** Which rooms of the server a room may import, beside its own. */
const everywhere = new Set(['json', 'log', 'problem', 'request']);
const roomArrows: Readonly<Record<string, readonly string[]>> = {
  server: ['pause', 'app', 'http', 'upkeep', 'runs', 'workers', 's2', 'packets', 'tenancy', 'auth', 'db'],
  app: [
    'pause',
    'http',
    'upkeep',
    'runs',
    'workers',
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
    'channels',
    'realtime',
    's2',
    'streams',
    'sse',
    'sessions',
    'envvars',
    'tracing',
    'packets',
    'bulk',
  ],
  index: ['server', 'http', 'auth', 'tenancy', 'db', 'runs', 'schedules', 'envvars'],
  http: ['auth', 'db'],
  upkeep: ['runs', 'errors', 'db'],
  runs: ['queues', 'errors', 'workers', 'envvars', 'packets', 'audit', 'auth', 'db'],
  channels: ['sse', 'db'],
  sse: [],
  streams: ['s2', 'sessions', 'channels', 'sse', 'runs', 'envvars', 'db'],
  s2: ['channels', 'auth', 'db'],
  realtime: ['sse', 'runs', 'auth', 'db'],
  sessions: ['channels', 'sse', 'runs', 'workers', 'envvars', 'auth', 'db'],
  schedules: ['runs', 'audit', 'auth', 'db', 'workers'],
  batches: ['runs', 'errors', 'auth', 'db'],
  events: ['runs', 'auth', 'db', 'workers'],
  notifications: ['audit', 'auth', 'db'],
  waitpoints: ['runs', 'auth', 'db'],
  envvars: ['audit', 'auth', 'db'],
  packets: ['auth', 'db'],
  bulk: ['runs', 'envvars', 'workers', 'audit', 'auth', 'db'],
  workers: ['audit', 'auth', 'db'],
  queues: ['audit', 'auth', 'db'],
  errors: ['audit', 'auth', 'db'],
  tenancy: ['audit', 'auth', 'db'],
  audit: ['auth', 'db'],
  pause: ['audit', 'auth', 'db'],
  tracing: [],
  auth: ['db'],
  db: [],
  json: [],
  log: [],
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
    it(`${name} imports only ${allowed.length > 0 ? allowed.join(', ') : 'nothing'} of the workspace`, () => {
      const imports = importsBelow(join(root, 'packages', name, 'src'));
      expect(imports.length).toBeGreaterThan(0);
      const wrong = imports.filter(({ to }) => {
        const target = workspaceName(to);
        return target !== undefined && target !== name && !allowed.includes(target);
      });
      expect(wrong).toEqual([]);
    });
  }

  it('contract needs zod and nothing else', () => {
    const wrong = importsBelow(join(root, 'packages/contract/src')).filter(
      ({ to }) => !to.startsWith('.') && to !== 'zod',
    );
    expect(wrong).toEqual([]);
  });

  it('a room of the server imports only the rooms below it', () => {
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

  it('only http knows the HTTP framework', () => {
    const wrong = importsBelow(join(root, 'packages/server/src'))
      .filter(({ to }) => to === 'fastify' || to.startsWith('@fastify/') || to === 'ws')
      .filter(({ from }) => !from.includes('/server/src/http/'));
    expect(wrong).toEqual([]);
  });
});
