/** The network loses, delays or resets packets. */
import { loseSome, reset, separate } from '../network/faults.ts';
import { servers } from '../network/nodes.ts';
import { setDelay } from '../system/delay.ts';
import { apiUrl, databaseAddress } from '../system/haproxy.ts';
import type { Random } from '../random.ts';
import { seconds } from '../time.ts';
import type { Scenario } from './scenario.ts';

export const networks: Readonly<Record<string, Scenario>> = {
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
    title: 'connections of a server to the database reset in 10 bursts',
    lasts: 5,
    async inject({ server, random }) {
      await inBursts(random, () => reset(server, 'proxy', databaseAddress.port));
      return () => {};
    },
  },
  'runner-resets': {
    title: 'connections of a runner to the servers reset in 10 bursts',
    lasts: 5,
    async inject({ runner, random }) {
      await inBursts(random, () => reset(runner, 'proxy', Number(new URL(apiUrl).port)));
      return () => {};
    },
  },
};

async function inBursts(random: Random, begin: () => () => void): Promise<void> {
  for (let burst = 0; burst < 10; burst++) {
    const end = begin();
    await seconds(random.between(0.05, 0.4));
    end();
    await seconds(random.between(0.3, 2));
  }
}
