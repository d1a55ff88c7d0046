import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { circlesIn, graphOf, importsBelow, type Import } from './imports.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = join(root, 'packages/server/src');

/** Which workspace packages a package may import. */
const packageArrows: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  fingerprint: [],
  sdk: ['contract'],
  server: ['contract', 'fingerprint'],
  platform: [],
  template: [],
  diagnostics: ['contract'],
  compat: ['sdk', 'contract', 'diagnostics', 'platform'],
  runner: ['compat', 'server', 'sdk', 'contract', 'diagnostics', 'platform'],
  postgres: ['server', 'contract', 'platform'],
  millrace: [
    'runner',
    'postgres',
    'compat',
    'server',
    'sdk',
    'contract',
    'diagnostics',
    'template',
    'platform',
  ],
  'create-millrace': ['template', 'platform'],
  react: ['sdk'],
  testing: ['millrace', 'server', 'sdk', 'contract'],
  dashboard: ['contract'],
};

/** Imports that only some files of a package may have. */
const seams: readonly { readonly from: string; readonly to: RegExp; readonly files: readonly string[] }[] = [
  // An executor adds the runtime of the published SDK only when a version has tasks of it.
  { from: 'runner', to: /^@millrace\/compat/, files: ['executor/published-tasks.ts'] },
  // A runner uses only the redaction of the server, not the server.
  { from: 'runner', to: /^@millrace\/server/, files: ['runner/secrets.ts'] },
  { from: 'runner', to: /^@millrace\/server$/, files: [] },
];

/** Rooms of one command, and the files that import them. `transfer` is `export` and `import`. */
const roomsOfOneCommand: Readonly<Record<string, readonly string[]>> = {
  archive: ['cli/commands/runs-archive.ts'],
  demo: ['cli/compose/demo.ts'],
  mcp: ['cli/commands/mcp.ts'],
  transfer: ['cli/compose/export.ts', 'cli/compose/import-environment.ts', 'cli/compose/transfer-remote.ts'],
};

/** Which rooms of the server a room may import. docs/architecture.md shows this table. */
const roomArrows: Readonly<Record<string, readonly string[]>> = {
  server: [
    'app',
    'operations',
    'http',
    'waitpoints',
    'runs',
    'tenancy',
    'versions',
    'telemetry',
    'payloads',
    'channels',
    'auth',
    'db',
  ],
  index: [
    'server',
    'operations',
    'http',
    'events',
    'outbox',
    'runs',
    'tenancy',
    'envvars',
    'versions',
    'auth',
    'db',
  ],
  app: [
    'operations',
    'http',
    'realtime',
    'sessions',
    'schedules',
    'batches',
    'events',
    'outbox',
    'waitpoints',
    'runs',
    'errors',
    'notifications',
    'tenancy',
    'envvars',
    'versions',
    'queues',
    'telemetry',
    'payloads',
    'audit',
    'channels',
    'jobs',
    'runners',
    'auth',
    'db',
  ],
  operations: ['outbox', 'runs', 'telemetry', 'audit', 'jobs', 'auth', 'db'],
  http: ['telemetry', 'auth', 'db'],
  realtime: ['sessions', 'runs', 'envvars', 'channels', 'auth', 'db'],
  sessions: ['runs', 'envvars', 'payloads', 'channels', 'auth', 'db'],
  schedules: ['runs', 'audit', 'jobs', 'runners', 'auth', 'db'],
  batches: ['runs', 'errors', 'auth', 'db'],
  events: ['runs', 'envvars', 'versions', 'telemetry', 'jobs', 'auth', 'db'],
  outbox: ['runs', 'jobs', 'auth', 'db'],
  waitpoints: ['events', 'runs', 'auth', 'db'],
  runs: [
    'errors',
    'envvars',
    'versions',
    'queues',
    'telemetry',
    'payloads',
    'audit',
    'jobs',
    'runners',
    'auth',
    'db',
  ],
  errors: ['audit', 'jobs', 'auth', 'db'],
  notifications: ['telemetry', 'audit', 'jobs', 'auth', 'db'],
  tenancy: ['audit', 'auth', 'db'],
  envvars: ['audit', 'auth', 'db'],
  versions: ['telemetry', 'audit', 'jobs', 'auth', 'db'],
  queues: ['audit', 'auth', 'db'],
  telemetry: ['audit', 'jobs', 'auth', 'db'],
  payloads: ['auth', 'db'],
  audit: ['auth', 'db'],
  channels: ['auth', 'db'],
  jobs: ['db'],
  runners: ['audit', 'jobs', 'db'],
  auth: ['db'],
  request: ['auth'],
  json: ['problem'],
  'failure-headers': [],
  page: ['problem', 'db'],
  problem: ['db'],
  db: ['logger', 'background', 'package-folder'],
  background: [],
  'max-entries': [],
  logger: ['log-stacks'],
  'log-stacks': [],
  'package-folder': [],
};

/** Rooms that every other room may import, except `db` and these rooms themselves. */
const everywhere = [
  'request',
  'page',
  'problem',
  'json',
  'logger',
  'background',
  'max-entries',
  'failure-headers',
  'package-folder',
];
const mayImport = (room: string): readonly string[] => {
  const arrows = roomArrows[room] ?? [];
  return room === 'db' || everywhere.includes(room) ? arrows : [...arrows, ...everywhere];
};

const workspaceName = (specifier: string): string | undefined =>
  specifier.startsWith('@millrace/')
    ? specifier.split('/')[1]
    : /^millrace(?:\/|$)/.test(specifier)
      ? 'millrace'
      : undefined;

describe('the packages', () => {
  for (const [name, allowed] of Object.entries(packageArrows)) {
    const imports = importsBelow(join(root, 'packages', name, 'src'));

    test(`${name} imports only ${allowed.length > 0 ? allowed.join(', ') : 'nothing'} of the workspace`, () => {
      expect(imports.length).toBeGreaterThan(0);
      const wrong = imports.filter(({ to }) => {
        const target = workspaceName(to);
        return target !== undefined && target !== name && !allowed.includes(target);
      });
      expect(wrong).toEqual([]);
    });

    test(`${name} imports other packages by their names`, () => {
      const own = join(root, 'packages', name);
      const wrong = imports.filter(
        ({ from, to }) => to.startsWith('.') && relative(own, resolve(dirname(from), to)).startsWith('..'),
      );
      expect(wrong).toEqual([]);
    });

    test(`the files of ${name} import each other without a circle, types included`, () => {
      const circles = circlesIn(graphOf(imports)).map((files) => files.map((file) => relative(root, file)));
      expect(circles).toEqual([]);
    });
  }

  test('form no circle', () => {
    const table = new Map(Object.entries(packageArrows).map(([name, targets]) => [name, new Set(targets)]));
    expect(circlesIn(table)).toEqual([]);
  });

  test('use every arrow of the table', () => {
    const unused = Object.entries(packageArrows).flatMap(([name, targets]) => {
      const used = new Set(
        importsBelow(join(root, 'packages', name, 'src')).map(({ to }) => workspaceName(to)),
      );
      return targets.filter((target) => !used.has(target)).map((target) => `${name} → ${target}`);
    });
    expect(unused).toEqual([]);
  });

  test.each(seams)('$to is imported in $from only by $files', ({ from: name, to: pattern, files }) => {
    const folder = join(root, 'packages', name, 'src');
    const importing = importsBelow(folder).flatMap(({ from, to }) =>
      pattern.test(to) ? [relative(folder, from)] : [],
    );
    expect([...new Set(importing)]).toEqual(files);
  });

  test('contract needs only zod and, in one file, a parser for event streams', () => {
    const folder = join(root, 'packages/contract/src');
    const wrong = importsBelow(folder).filter(
      ({ from, to }) =>
        !to.startsWith('.') &&
        to !== (relative(folder, from) === 'event-stream.ts' ? 'eventsource-parser' : 'zod'),
    );
    expect(wrong).toEqual([]);
  });
});

test.each(Object.entries(roomsOfOneCommand))(
  'the room %s of the command is imported only by the files of its command',
  (room, files) => {
    const folder = join(root, 'packages/millrace/src');
    const importing = importsBelow(folder).flatMap(({ from, to }) => {
      const file = relative(folder, from);
      const isInside = file.startsWith(`${room}/`);
      const reaches =
        to.startsWith('.') && relative(folder, resolve(dirname(from), to)).startsWith(`${room}/`);
      return reaches && !isInside ? [file] : [];
    });
    expect([...new Set(importing)].toSorted()).toEqual(files);
  },
);

describe('the rooms of the server', () => {
  const imports = importsBelow(source);
  const roomOf = (file: string): string =>
    (relative(source, file).split('/')[0] as string).replace(/\.ts$/, '');
  const arrow = ({ from, to }: Import) => ({
    file: relative(source, from),
    from: roomOf(from),
    to: roomOf(resolve(dirname(from), to)),
  });
  const arrows = imports
    .filter(({ to }) => to.startsWith('.'))
    .map(arrow)
    .filter(({ from, to }) => from !== to);

  test('import only the rooms that the table allows', () => {
    expect(arrows.filter(({ from, to }) => !mayImport(from).includes(to))).toEqual([]);
  });

  test('use every arrow of the table', () => {
    const used = new Set(arrows.map(({ from, to }) => `${from} → ${to}`));
    const all = Object.entries(roomArrows).flatMap(([from, targets]) =>
      targets.map((to) => `${from} → ${to}`),
    );
    expect(all.filter((name) => !used.has(name))).toEqual([]);
  });

  test('number at most 26, and that of runs has only folders', () => {
    const rooms = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(rooms.length).toBeLessThanOrEqual(26);
    const inRuns = readdirSync(join(source, 'runs'), { withFileTypes: true });
    expect(inRuns.filter((entry) => entry.isFile())).toEqual([]);
  });

  test('form no circle', () => {
    const table = new Map(Object.entries(roomArrows).map(([room, targets]) => [room, new Set(targets)]));
    expect(circlesIn(table)).toEqual([]);
  });

  test('appear unchanged in docs/architecture.md', async () => {
    const page = new URL('../../docs/architecture.md', import.meta.url);
    const rows = Object.entries(roomArrows).map(
      ([room, targets]) => `| \`${room}\` | ${targets.join(', ') || 'none'} |`,
    );
    const table = ['| Room | Imports |', '|---|---|', ...rows].join('\n');
    const text = readFileSync(page, 'utf8');
    const [begin, end] = ['<!-- rooms -->', '<!-- /rooms -->'];
    expect(text).toContain(begin);
    const updated = `${text.slice(0, text.indexOf(begin))}${begin}\n\n${table}\n\n${text.slice(text.indexOf(end))}`;
    // `vitest -u` writes it.
    await expect(updated).toMatchFileSnapshot(fileURLToPath(page));
  });

  test('know the HTTP framework in http only', () => {
    const wrong = imports
      .filter(({ to }) => to === 'fastify' || to.startsWith('@fastify/') || to === 'ws')
      .filter(({ from }) => roomOf(from) !== 'http');
    expect(wrong).toEqual([]);
  });
});
