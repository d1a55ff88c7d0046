/**
 * docs/production.md, with its commands run verbatim, packages as published on npm, and PostgreSQL and Caddy as packaged by Debian.
 * docs/self-hosting.md and docs/deploy.md show the same commands for one machine.
 */
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testProvider } from '../access/oidc/provider.ts';
import { ask, logInAs } from '../access/oidc/world.ts';
import { repository, type Running } from '../cli/command.ts';
import { isLong } from '../support/long.ts';
import { tcpPostgres } from '../support/tcp-postgres.ts';
import { caddyHead, trustCaddy } from './caddy.ts';
import { composeUp } from './compose.ts';
import { readPage, replaced, type Page } from './page.ts';
import { hasPrograms, postgresPrograms, unlessMissing } from './programs.ts';
import type { Terminal } from './terminal.ts';
import { triggerThrough, statusOf } from './traffic.ts';
import { lastIn, startWorld, type World } from './world.ts';

const serves = /^Millrace \S+ serves at /;
const connected = /"runner\.connected"/;

test.each(['self-hosting.md', 'deploy.md'])(
  'docs/%s has the Docker Compose commands that docs/production.md has',
  async (name) => {
    const [production, other] = [await readPage('production.md'), await readPage(name)];
    const commands = production.left().filter((block) => block.includes('docker compose'));
    expect(commands).toHaveLength(1);
    expect(other.left().filter((block) => block.includes('docker compose'))).toEqual(commands);
  },
);

test('docs/self-hosting.md has no other commands', async () => {
  expect((await readPage('self-hosting.md')).left()).toHaveLength(1);
});

describe.runIf(isLong && hasPrograms)(`docs/production.md${unlessMissing}`, () => {
  let page: Page;
  let world: World;
  let laptop: Terminal;
  let onServer1: Terminal;
  let key: string;
  let order: string;

  beforeAll(async () => {
    page = await readPage('production.md');
    world = await startWorld();
  }, 180_000);
  afterAll(() => world?.end(), 60_000);

  /** A PostgreSQL for the rest of the page, and a terminal of its superuser. */
  const postgres = async (name: string, rule: string) => {
    const rules = [rule, 'host all boss 127.0.0.1/32 scram-sha-256'];
    const running = await tcpPostgres(rules, {}, { programs: postgresPrograms });
    world.ends.push(() => running.stop());
    const env = { PGHOST: '127.0.0.1', PGPORT: String(running.port), PGUSER: 'boss', PGPASSWORD: 'b0ss' };
    const { terminal } = await world.open(name, [], { ...env, PGDATABASE: 'postgres' });
    return { address: `127.0.0.1:${running.port}`, superuser: await terminal() };
  };

  test('begins on a laptop, and continues with Compose on one machine', { timeout: 240_000 }, async () => {
    const { folder, terminal } = await world.open('laptop');
    const dev = (await terminal()).start(page.next('npx millrace dev'));
    await dev.line(/version .*\bhello\b/);
    const project = join(folder, 'hello');
    laptop = await terminal(project);
    expect(await laptop.type(page.next('npx millrace trigger hello'))).toContain('Hello, Ada!');
    await writeFile(join(project, 'tasks/order.ts'), page.next('// tasks/order.ts'));
    await dev.line(/version .*\bhello, order\b/);
    dev.kill('SIGINT');
    await dev.exitCode;

    const clone = join(world.folder, 'clone');
    await cp(join(repository, 'deploy'), join(clone, 'deploy'), {
      recursive: true,
      filter: (path) => !path.endsWith('/secrets'),
    });
    const single = await (await world.open('clone')).terminal();
    const domain = lastIn(await single.type(page.next('docker compose')), /\S+:\d+/);
    const { caddy: ports, env, bin, data } = world;
    const composed = await composeUp({ clone, domain, ports, env, bin });
    world.ends.push(() => composed.stop());
    await trustCaddy(data, world.url);
    expect(await laptop.type(page.next('prod-secret-key npx millrace deploy'))).toContain('Hello, Ada!');
    await composed.stop();
  });

  test('leads to two servers that tolerate the loss of one', { timeout: 240_000 }, async () => {
    const { url, port } = world;
    const provider = await testProvider();
    provider.accounts.set('ada', { name: 'Ada Lovelace', groups: ['millrace-admins'] });
    provider.allow(url);

    const roles = page.next('create role millrace');
    const rule = replaced(page.next('host millrace millrace'), [['10.0.0.0/24', '127.0.0.0/8']]);
    const { address, superuser } = await postgres('database', rule.trim());
    await superuser.type(roles);

    const known = [
      ['10.0.0.20:5432', address],
      ['https://login.example.com/realms/main', provider.settings.issuer],
      ['the-secret-of-the-client', provider.settings.clientSecret ?? ''],
    ] as const;
    const server1 = await world.open('server-1', known);
    const server2 = await world.open('server-2', known);
    const settings = await server1.terminal();
    await settings.type(page.next('mkdir -p /srv/millrace/secrets'));
    await settings.type(page.next('cat > server.env'));
    await settings.type(page.next('set -a; . ./server.env'));
    const examined = await settings.tries(page.next('npx millrace doctor'));
    expect(examined.stdout, examined.stderr).toMatch(/^ok +database +database-answers/m);

    const startOne = page.next('npx millrace start --host 10.0.0.11');
    const startTwo = page.next('npx millrace start --host 10.0.0.12');
    const onServer2 = await server2.terminal();
    const servers: Record<string, Running> = { '127.0.0.11': settings.start(startOne) };
    await servers['127.0.0.11']?.line(serves);
    servers['127.0.0.12'] = onServer2.start(startTwo);
    await servers['127.0.0.12'].line(serves);

    const proxy = await world.open('proxy');
    const caddyfile = replaced(page.next('reverse_proxy'), [
      ['tasks.example.com', new URL(url).host],
      ['10.0.0.', '127.0.0.'],
      [/:4400\b/g, `:${port}`],
    ]);
    await writeFile(join(proxy.folder, 'Caddyfile'), `${caddyHead(world.caddy)}${caddyfile}`);
    (await proxy.terminal()).start(page.next('caddy run'));
    await trustCaddy(world.data, url);
    onServer1 = await server1.terminal();
    // Append sessions reach a server, which does not have this stream.
    expect((await fetch(`${url}/s2/v1/streams/none/records`)).status).toBeLessThan(500);
    const doctor = await onServer1.tries(page.next('npx millrace doctor --url'));
    for (const check of ['server-ready', 'proxy-websocket', 'proxy-address', 'proxy-client-address'])
      expect(doctor.stdout, doctor.stderr).toMatch(new RegExp(`^ok +server +${check}`, 'm'));

    const runner = (await (await world.open('runner-1')).terminal()).start(page.next('npx millrace work'));
    await runner.line(connected);

    const login = laptop.start(page.next('npx millrace login --approval'));
    const [, userCode] = /approve=([\w-]+)/.exec(await login.line(/\/account\?approve=/)) ?? [];
    const here = { server: { url } };
    const ada = await logInAs(here, 'ada');
    expect(await ask(here, ada, 'POST /api/v1/authorization-code/approve', { userCode })).toMatchObject({
      status: 200,
    });
    expect(await login.exitCode, login.stderr.join('\n')).toBe(0);
    expect(login.stdout.join('\n')).toContain('You are Ada Lovelace');
    key = lastIn(await laptop.type(page.next('npx millrace keys create')), /svc_prod_sk_\w+/);
    const deployed = await laptop.type(page.next('npx millrace deploy').replace('svc_prod_sk_…', key));
    expect(deployed).toContain('Hello, Ada!');
    order = lastIn(deployed, /run_\w+/);
    await expect.poll(() => statusOf(url, key, order), { interval: 500, timeout: 60_000 }).toBe('WAITING');

    // Kills the server with the runner's connection, in the middle of triggers.
    const runnersOf = async (host: string): Promise<number> =>
      Number(
        /^millrace_runners_connected (\d+)$/m.exec(
          await (await fetch(`http://${host}:${port}/metrics`)).text(),
        )?.[1],
      );
    const hosts = Object.keys(servers);
    const counts = await Promise.all(hosts.map(runnersOf));
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, 1]);
    const lost = hosts[counts.indexOf(1)] ?? '';
    const runs = await triggerThrough(url, key, 40, async (index) => {
      if (index === 10) servers[lost]?.kill('SIGKILL');
    });
    await servers[lost]?.exitCode;
    expect(new Set(runs).size).toBe(40);
    await expect
      .poll(async () => new Set(await Promise.all(runs.map((run) => statusOf(url, key, run)))), {
        timeout: 60_000,
        interval: 1_000,
      })
      .toEqual(new Set(['COMPLETED']));
    const after = await laptop.type(page.next('npx millrace runs list --status WAITING'));
    expect(after).toContain('Hello, Grace!');
    expect(after).toContain(order);
    const again = lost === '127.0.0.11' ? settings.start(startOne) : onServer2.start(startTwo);
    await again.line(serves);
  });

  test(
    'ends with a backup that is restored elsewhere, where a waiting run completes',
    { timeout: 240_000 },
    async () => {
      await onServer1.type(page.next('pg_dump'));

      const roles = page.next('create role millrace');
      const { address, superuser } = await postgres(
        'spare-database',
        'host millrace millrace 127.0.0.0/8 scram-sha-256',
      );
      await superuser.type(roles);
      const { terminal } = await world.open('spare', [['127.0.0.1:5432', address]]);
      const standby = (await terminal()).start(page.next('npx millrace start --paused'));
      await standby.line(serves);
      await standby.line(/^Paused since /);

      const second = await terminal();
      const looked = await second.type(page.next('npx millrace why').replace('run_…', order));
      expect(looked).toMatch(new RegExp(`^${order} +WAITING`, 'm'));
      const token = lastIn(looked, /waitpoint_\w+/);
      const runner = (await terminal()).start(page.next('npx millrace work'));
      await runner.line(connected);
      const block = page.next('npx millrace resume').replace('run_…', order).replace('waitpoint_…', token);
      const resumed = await second.type(block);
      expect(resumed).toContain('Resumed: runs start and schedules fire again.');
      expect(resumed).toContain('a lamp, approved by Ada');
      // The two installations share nothing.
      expect(await statusOf(`http://127.0.0.11:${world.port}`, key, order)).toBe('WAITING');
      expect(page.left()).toEqual([]);
    },
  );
});
