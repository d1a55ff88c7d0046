/** Servers, runners and proxies end, and start again. */
import { signal } from '../network/namespaces.ts';
import { servers } from '../network/nodes.ts';
import { startHaproxy } from '../system/haproxy.ts';
import { startPgbouncer } from '../system/pgbouncer.ts';
import type { Scenario } from './scenario.ts';

export const processes: Readonly<Record<string, Scenario>> = {
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
