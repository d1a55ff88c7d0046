/** All scenarios. */
import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { cutOff, loseSome, reset, separate } from '../network/faults.ts';
import { run, signal } from '../network/namespaces.ts';
import { addressOf, servers } from '../network/nodes.ts';
import { setDelay } from '../system/delay.ts';
import { cacheOf } from '../system/millrace.ts';
import { databaseAddress, startHaproxy } from '../system/haproxy.ts';
import { diskOf, leader, startMember, switchover, synchronousStandby } from '../system/postgres.ts';
import { startPgbouncer } from '../system/pgbouncer.ts';
import { seconds, until } from '../time.ts';
import type { Heal, Injecting, Scenario } from './scenario.ts';

/** The synchronous standby may be promoted; the other one may not. */
async function switchLeader({ system, leader: from }: Injecting): Promise<void> {
  const to = await until('there is a synchronous standby', 30, synchronousStandby);
  switchover(system.folder, from, to);
}

async function killLeader({ system, leader: name }: Injecting): Promise<Heal> {
  signal(name, 'SIGKILL');
  return () => startMember(system.folder, name);
}

async function cutOffLeader({ leader: name }: Injecting): Promise<Heal> {
  return cutOff(name);
}

function fill(folder: string): Heal {
  const file = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  execFileSync('fallocate', ['-l', String(bavail * bsize), file]);
  return () => rmSync(file);
}

/** Leads the name of the database to the new leader as soon as there is one. */
async function followWithName({ system, leader: old }: Injecting): Promise<void> {
  const next = await until('another member leads', 90, async () => {
    const found = await leader();
    return found !== undefined && found !== old && found;
  });
  system.hosts.lead(addressOf[next]);
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  switchover: {
    title: 'planned switchover to the synchronous standby',
    lasts: 5,
    isFailover: true,
    async inject(injecting) {
      await switchLeader(injecting);
      return () => {};
    },
  },
  'leader-killed': {
    title: 'kill -9 of the leader and its Patroni',
    lasts: 30,
    isFailover: true,
    inject: killLeader,
  },
  'leader-frozen': {
    title: 'leader and its Patroni stopped for 60 s (SIGSTOP)',
    lasts: 60,
    isFailover: true,
    async inject({ leader: name }) {
      signal(name, 'SIGSTOP');
      return () => signal(name, 'SIGCONT');
    },
  },
  'leader-cut-off': {
    title: 'leader disconnected from the network for 60 s',
    lasts: 60,
    isFailover: true,
    inject: cutOffLeader,
  },
  'leader-cut-off-hosts': {
    title: 'the same without HAProxy: all hosts in DATABASE_URL',
    route: 'hosts',
    lasts: 60,
    isFailover: true,
    inject: cutOffLeader,
  },
  'leader-killed-hosts': {
    title: 'kill -9 of the leader without HAProxy: all hosts in DATABASE_URL',
    route: 'hosts',
    lasts: 30,
    isFailover: true,
    inject: killLeader,
  },
  'name-moved': {
    title: 'leader disconnected for 60 s; the name of the database then leads to the new one',
    route: 'name',
    lasts: 60,
    isFailover: true,
    async inject(injecting) {
      const heal = cutOff(injecting.leader);
      await followWithName(injecting);
      return heal;
    },
  },
  'etcd-cut-off': {
    title: 'leader disconnected from etcd for 40 s',
    lasts: 40,
    async inject({ leader: name }) {
      return separate(name, 'etcd');
    },
  },
  'replicas-cut-off': {
    title: 'leader disconnected from its replicas for 40 s',
    lasts: 40,
    async inject({ leader: name, replicas }) {
      const ends = replicas.map((replica) => separate(name, replica));
      return () => {
        for (const end of ends) end();
      };
    },
  },
  'database-half-open': {
    title: 'link between one server and the database dead for 40 s: packets are dropped',
    lasts: 40,
    async inject({ server }) {
      return separate(server, 'proxy', databaseAddress.port);
    },
  },
  'runner-half-open': {
    title: 'link between one runner and the servers dead for 60 s: packets are dropped',
    lasts: 60,
    affectsRunner: true,
    async inject({ runner }) {
      return separate(runner, 'proxy');
    },
  },
  'disk-full': {
    title: 'disks of all database members full for 20 s',
    lasts: 20,
    async inject({ system, leader: name, replicas }) {
      const heals = [name, ...replicas].map((member) => fill(diskOf(system.folder, member)));
      return () => {
        for (const heal of heals) void heal();
      };
    },
  },
  'packets-lost': {
    title: '5% of packets lost between servers and proxy for 40 s',
    lasts: 40,
    async inject() {
      const ends = servers.map((name) => loseSome(name, 'proxy', 5));
      return () => {
        for (const end of ends) end();
      };
    },
  },
  delay: {
    title: 'database answers 200 ms later for 40 s',
    route: 'delay',
    lasts: 40,
    async inject() {
      await setDelay(100);
      return () => setDelay(0).then(() => {});
    },
  },
  resets: {
    title: 'connections of a server reset in 10 bursts',
    lasts: 5,
    async inject({ server, random }) {
      for (let burst = 0; burst < 10; burst++) {
        const end = reset(server, 'proxy');
        await seconds(random.between(0.05, 0.4));
        end();
        await seconds(random.between(0.3, 2));
      }
      return () => {};
    },
  },
  'server-killed': {
    title: 'kill -9 of a server, started again after 20 s',
    lasts: 20,
    async inject({ system, server }) {
      signal(server, 'SIGKILL');
      return () => system.startServer(server);
    },
  },
  'rolling-restart': {
    title: 'both servers restarted one after the other',
    lasts: 1,
    async inject({ system }) {
      for (const name of servers) {
        await system.stopServer(name);
        await system.startServer(name);
      }
      return () => {};
    },
  },
  'runner-killed': {
    title: 'kill -9 of a runner with its executors, started again after 40 s',
    lasts: 40,
    affectsRunner: true,
    async inject({ system, runner }) {
      signal(runner, 'SIGKILL');
      return () => system.startRunner(runner);
    },
  },
  'cache-full': {
    title: 'disk with the cache of a runner full while it restarts',
    lasts: 30,
    async inject({ system, runner }) {
      await system.stopRunner(runner);
      const cache = cacheOf(system.folder, runner);
      rmSync(cache, { recursive: true, force: true });
      run('mkdir', '-p', cache);
      run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'cache', cache);
      await system.startRunner(runner);
      return async () => {
        await system.stopRunner(runner);
        run('umount', cache);
        await system.startRunner(runner);
      };
    },
  },
  'proxy-restarted': {
    title: 'HAProxy killed and started again after 5 s',
    lasts: 5,
    async inject({ system }) {
      system.proxies.haproxy.kill('SIGKILL');
      return async () => {
        system.proxies.haproxy = await startHaproxy(system.folder);
      };
    },
  },
  'pooler-restarted': {
    title: 'PgBouncer killed and started again after 5 s',
    route: 'pooler',
    lasts: 5,
    async inject({ system }) {
      system.proxies.pgbouncer?.kill('SIGKILL');
      return async () => {
        system.proxies.pgbouncer = await startPgbouncer(system.folder);
      };
    },
  },
};

/** The form that `npm run test:long` runs. */
export const shortScenarios = ['leader-killed', 'leader-cut-off', 'runner-half-open'] as const;

export const scenarioNames = Object.keys(scenarios);
