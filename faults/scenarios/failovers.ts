/** Another member of the database cluster becomes the leader. */
import { cutOff } from '../network/faults.ts';
import { signal } from '../network/namespaces.ts';
import { addressOf } from '../network/nodes.ts';
import { leader, startMember, switchover, synchronousStandby } from '../system/postgres.ts';
import { until } from '../time.ts';
import type { Heal, Injecting, Scenario } from './scenario.ts';

async function switchLeader({ leader: from }: Injecting): Promise<void> {
  // Patroni promotes no other member.
  const to = await until('there is a synchronous standby', 30, synchronousStandby);
  await switchover(from, to);
}

async function killLeader({ system, leader: name }: Injecting): Promise<Heal> {
  signal(name, 'SIGKILL');
  return () => startMember(system.folder, name);
}

async function cutOffLeader({ leader: name }: Injecting): Promise<Heal> {
  return cutOff(name);
}

/** Leads the name of the database to the new leader as soon as there is one. */
async function followWithName({ system, leader: old }: Injecting): Promise<void> {
  const next = await until('another member leads', 90, async () => {
    const found = await leader();
    return found !== undefined && found !== old && found;
  });
  system.hosts.lead(addressOf[next]);
}

export const failovers: Readonly<Record<string, Scenario>> = {
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
};
