/** The whole installation: database cluster, proxies, servers and runners. */
import { mkdirSync } from 'node:fs';
import pg from 'pg';
import { configure } from '@millrace/sdk';
import { createNetwork } from '../network/namespaces.ts';
import {
  addressOf,
  members,
  runners,
  servers,
  type Member,
  type Runner,
  type Server,
} from '../network/nodes.ts';
import { seconds, until } from '../time.ts';
import { databaseUrlOf, type Route } from './database.ts';
import { startEtcd } from './etcd.ts';
import { apiUrl, databaseAddress, startHaproxy } from './haproxy.ts';
import { createHosts, type Hosts } from './hosts.ts';
import { deploy, newSecrets, startRunner, startServer, type Secrets } from './millrace.ts';
import { allMembersReady, createMembers, password, startMember } from './postgres.ts';
import { startPgbouncer } from './pgbouncer.ts';
import { startDelay } from './delay.ts';
import type { Started } from './process.ts';

export interface System {
  readonly folder: string;
  readonly secrets: Secrets;
  readonly hosts: Hosts;
  readonly route: () => Route;
  /** Programs between the servers and the database, or between clients and servers. */
  readonly proxies: { haproxy: Started; pgbouncer: Started | undefined };
  /** Restarts the servers with another route to the database, if they have a different one. */
  follow(route: Route): Promise<void>;
  /** Which runner has, or had, this process id. */
  runnerOf(pid: number): Runner | undefined;
  readonly running: { readonly servers: Map<Server, Started>; readonly runners: Map<Runner, Started> };
  startServer(name: Server, env?: Readonly<Record<string, string>>): Promise<void>;
  stopServer(name: Server): Promise<void>;
  startRunner(name: Runner, env?: Readonly<Record<string, string>>): Promise<void>;
  stopRunner(name: Runner): Promise<void>;
  /** A connection to the leader, as the role of the servers or as superuser. */
  connect(user?: 'millrace' | 'postgres', database?: string): Promise<pg.Client>;
  /** Waits until everything runs as before a fault. Resolves with the leader. */
  whole(): Promise<Member>;
}

export async function startSystem(folder: string, progress: (text: string) => void): Promise<System> {
  mkdirSync(folder, { recursive: true });
  createNetwork();
  const hosts = createHosts(folder);
  const secrets = newSecrets();
  const context = { folder, secrets };
  const pids = new Map<number, Runner>();
  const running = { servers: new Map<Server, Started>(), runners: new Map<Runner, Started>() };
  let route: Route = 'haproxy';

  progress('Starting PostgreSQL, Patroni, etcd and HAProxy.');
  await startEtcd(folder);
  createMembers(folder);
  for (const name of members) startMember(folder, name);
  const haproxy = await startHaproxy(folder);
  const proxies: System['proxies'] = { haproxy, pgbouncer: undefined };
  hosts.lead(addressOf[await allMembersReady()]);

  const connect: System['connect'] = async (user = 'millrace', database = 'millrace') => {
    const client = new pg.Client({
      ...databaseAddress,
      user,
      password,
      database,
      connectionTimeoutMillis: 5_000,
    });
    // An error of an idle connection; statements report their own.
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  const admin = await until('HAProxy leads to the leader', 60, () => connect('postgres', 'postgres'));
  await admin.query(`create role millrace login password '${password}'`);
  await admin.query('create database millrace owner millrace');
  await admin.end();

  const stopAndWait = async (started: Started | undefined): Promise<void> => {
    started?.kill('SIGTERM');
    // A stopped process would not end.
    started?.kill('SIGCONT');
    const isStopped = await Promise.race([started?.exited.then(() => true), seconds(60).then(() => false)]);
    if (started && !isStopped) throw new Error(`Process ${started.pid} did not stop within 60 s.`);
  };

  const system: System = {
    folder,
    secrets,
    hosts,
    proxies,
    running,
    route: () => route,
    connect,
    runnerOf: (pid) => pids.get(pid),
    async follow(next) {
      if (route === next) return;
      route = next;
      if (next === 'pooler') proxies.pgbouncer ??= await startPgbouncer(folder);
      if (next === 'delay') await startDelay(folder);
      if (next === 'name') hosts.lead(addressOf[await allMembersReady()]);
      for (const name of servers) {
        await system.stopServer(name);
        await system.startServer(name);
      }
    },
    async startServer(name, env) {
      running.servers.set(name, await startServer(context, name, route, env));
    },
    stopServer: (name) => stopAndWait(running.servers.get(name)),
    async startRunner(name, env) {
      const started = startRunner(context, name, env);
      running.runners.set(name, started);
      pids.set(started.pid, name);
      await until(`${name} has connected`, 60, () => isConnected(system, started.pid));
    },
    stopRunner: (name) => stopAndWait(running.runners.get(name)),
    async whole() {
      const leading = await allMembersReady();
      await until('the servers are ready', 60, async () => {
        const responses = await Promise.all(
          servers.map((name) => fetch(`http://${addressOf[name]}:4400/readyz`)),
        );
        return responses.every(({ ok }) => ok);
      });
      for (const name of runners)
        await until(`${name} is connected`, 60, () => isConnected(system, running.runners.get(name)?.pid));
      return leading;
    },
  };

  const own = await connect();
  await own.query('create table faults_probe (id uuid not null)');
  await own.end();

  progress('Starting servers and runners.');
  for (const name of servers) await system.startServer(name);
  await until('HAProxy leads to a server', 30, async () => (await fetch(`${apiUrl}/readyz`)).ok);
  configure({ baseURL: apiUrl, accessToken: secrets.secretKey });
  deploy(context);
  for (const name of runners) await system.startRunner(name);
  return system;
}

async function isConnected(system: System, pid: number | undefined): Promise<boolean> {
  const client = await system.connect();
  try {
    const { rowCount } = await client.query('select from runners where pid = $1', [pid ?? 0]);
    return (rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}

/** Whether a row with this id can be written at the address that the servers use. */
export async function databaseAnswers(route: Route, id: string): Promise<boolean> {
  const urls =
    route === 'hosts'
      ? members.map((name) => databaseUrlOf.haproxy.replace(/@[^/]+/, `@${addressOf[name]}:5432`))
      : [databaseUrlOf[route === 'delay' ? 'haproxy' : route]];
  const written = await Promise.all(urls.map((url) => write(url, id)));
  return written.includes(true);
}

async function write(url: string, id: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_500 });
  client.on('error', () => {});
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => {
      client.connection.stream.destroy();
      resolve(false);
    }, 1_500);
  });
  const attempt = async (): Promise<boolean> => {
    await client.connect();
    // Waits for the synchronous standby, like every commit of a server.
    await client.query('insert into faults_probe values ($1)', [id]);
    await client.end();
    return true;
  };
  try {
    return await Promise.race([attempt(), tooLate]);
  } catch {
    client.connection.stream.destroy();
    return false;
  } finally {
    clearTimeout(timer);
  }
}
