/** Emulates `docker compose up --wait` for deploy/compose.yaml without containers: each service is a process. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { inherited, millrace, watched, type Running } from '../cli/command.ts';
import { freePort } from '../../packages/postgres/src/cluster/free-port.ts';
import { tcpPostgres } from '../support/tcp-postgres.ts';
import { caddyHead, type CaddyPorts } from './caddy.ts';
import { postgresPrograms } from './programs.ts';

const run = promisify(execFile);

interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly deploy?: { readonly replicas?: number };
  readonly build?: { readonly target?: string };
}

interface Compose {
  readonly services: Readonly<Record<'postgres' | 'server' | 'runner' | 'caddy', Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

export interface Composed {
  /** The health check URL of a service. */
  readonly health: readonly string[];
  stop(): Promise<void>;
}

export interface ComposeOptions {
  /** The clone of the repository. */
  readonly clone: string;
  readonly domain: string;
  readonly ports: CaddyPorts;
  readonly env: Readonly<Record<string, string>>;
  /** The installed command. */
  readonly bin: string;
}

/** The command and variables of an image, by its Dockerfile target. */
async function imageOf(clone: string, target: string) {
  const stages = (await readFile(join(clone, 'deploy/Dockerfile'), 'utf8')).split(/^(?=FROM )/m);
  /** A build stage, preceded by its base stages. */
  const chain = (name: string): string => {
    const stage = stages.find((candidate) => candidate.split('\n', 1)[0]?.endsWith(` AS ${name}`)) ?? '';
    const [, base] = /^FROM (\S+)/.exec(stage) ?? [];
    return base === undefined ? '' : `${chain(base)}\n${stage}`;
  };
  const text = chain(target);
  const variables = [...text.matchAll(/^ENV (.+)$/gm)].flatMap(([, line = '']) => line.split(' '));
  const command = [...text.matchAll(/^CMD (\[.+\])$/gm)].at(-1)?.[1] ?? '[]';
  return {
    command: JSON.parse(command) as string[],
    env: Object.fromEntries(variables.map((variable) => variable.split('=', 2) as [string, string])),
  };
}

export async function composeUp({ clone, domain, ports, env, bin }: ComposeOptions): Promise<Composed> {
  const { services, secrets } = parse(await readFile(join(clone, 'deploy/compose.yaml'), 'utf8'), {
    merge: true,
  }) as Compose;
  const started: Running[] = [];
  const port = await freePort();

  // In the network of Compose the services have names.
  const names = (text: string, database: number): string =>
    text.replace('postgres:5432', `127.0.0.1:${database}`).replace('server:4400', `127.0.0.1:${port}`);
  const mounted = join(clone, 'run-secrets');
  const valueOf = (value: string): string => value.replace('/run/secrets', mounted);
  const environmentOf = (service: Service, database: number): Record<string, string> =>
    Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [
        name,
        names(valueOf(value), database),
      ]),
    );

  const postgres = await tcpPostgres(
    ['host all all 127.0.0.0/8 scram-sha-256'],
    {},
    { programs: postgresPrograms },
  );
  await mkdir(mounted);
  for (const [name, { file }] of Object.entries(secrets))
    await writeFile(
      join(mounted, name),
      names(await readFile(join(clone, 'deploy', file), 'utf8'), postgres.port),
    );

  // As the PostgreSQL image does at its first start.
  const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD_FILE } = services.postgres.environment ?? {};
  const password = (await readFile(valueOf(POSTGRES_PASSWORD_FILE ?? ''), 'utf8')).trim();
  const psql = ['-h', '127.0.0.1', '-p', String(postgres.port), '-U', 'boss', 'postgres'];
  for (const sql of [
    `create role ${POSTGRES_USER} superuser login password '${password}'`,
    `create database ${POSTGRES_DB} owner ${POSTGRES_USER}`,
  ])
    await run(join(postgresPrograms ?? '', 'psql'), [...psql, '-c', sql], {
      env: { ...process.env, PGPASSWORD: 'b0ss' },
    });

  /** A container of an image of Millrace. */
  const start = async (service: Service, own: Record<string, string>, name: string): Promise<void> => {
    const image = await imageOf(clone, service.build?.target ?? '');
    const cwd = join(clone, name);
    await mkdir(cwd);
    const { PATH: _, MILLRACE_CACHE: __, ...variables } = image.env;
    started.push(
      millrace([...(service.command ?? image.command)], {
        cwd,
        bin,
        env: { ...env, ...variables, ...environmentOf(service, postgres.port), XDG_CACHE_HOME: cwd, ...own },
      }),
    );
  };
  const health: string[] = [];
  // As HEALTHCHECK of the images does.
  const healthy = async (at: string): Promise<void> => {
    health.push(at);
    await expect.poll(() => fetch(at).then(({ status }) => status, String), { timeout: 60_000 }).toBe(200);
  };
  await start(
    services.server,
    // Caddy's address in this test.
    { MILLRACE_HOST: '127.0.0.1', MILLRACE_PORT: String(port), MILLRACE_TRUSTED_PROXIES: '127.0.0.1' },
    'server',
  );
  await healthy(`http://127.0.0.1:${port}/readyz`);
  for (let index = 0; index < (services.runner.deploy?.replicas ?? 1); index++) {
    const own = `127.0.0.1:${await freePort()}`;
    await start(services.runner, { MILLRACE_HEALTH_PORT: own }, `runner-${index}`);
    await healthy(`http://${own}/readyz`);
  }
  const file = join(clone, 'deploy/Caddyfile.here');
  await writeFile(file, `${caddyHead(ports)}${await readFile(join(clone, 'deploy/Caddyfile'), 'utf8')}`);
  started.push(
    watched(
      spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
        env: {
          ...inherited,
          ...env,
          MILLRACE_DOMAIN: domain,
          MILLRACE_UPSTREAM: `127.0.0.1:${port}`,
          XDG_CONFIG_HOME: clone,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    ),
  );
  return {
    health,
    async stop() {
      // The server stops last, so that runners can release their runs.
      for (const program of started.toReversed()) {
        program.kill('SIGTERM');
        await program.exitCode;
      }
      await postgres.stop();
    },
  };
}
