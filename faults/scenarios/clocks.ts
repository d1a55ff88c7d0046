/** The clock of a machine jumps by an hour, forwards or backwards. */
import { createClock, noFakeTime } from '../system/clock.ts';
import { leader, restartMember, switchover, synchronousStandby } from '../system/postgres.ts';
import { seconds, until } from '../time.ts';
import type { Scenario } from './scenario.ts';

export const clocks: Readonly<Record<string, Scenario>> = {
  'database-clock': {
    title: 'clock of the new leader is an hour ahead after a switchover, then jumps to an hour behind',
    lasts: 20,
    movesDatabaseClock: true,
    unavailable: noFakeTime,
    async inject({ system, leader: from, replicas }) {
      const clock = createClock(system.folder, 'database');
      clock.set(1);
      // Both, because either becomes the synchronous standby while the other restarts.
      for (const name of replicas) await restartMember(system.folder, name, clock.env);
      const to = await until('there is a synchronous standby', 60, synchronousStandby);
      await switchover(from, to);
      await until(`${to} leads`, 60, async () => (await leader()) === to);
      await seconds(20);
      clock.set(-1);
      return async () => {
        clock.set(0);
        for (const name of replicas) await restartMember(system.folder, name, {});
      };
    },
  },
  'server-clock': {
    title: 'clock of a server jumps to an hour ahead, then to an hour behind',
    lasts: 20,
    unavailable: noFakeTime,
    async inject({ system, server }) {
      const clock = createClock(system.folder, server);
      await system.stopServer(server);
      await system.startServer(server, clock.env);
      clock.set(1);
      await seconds(20);
      clock.set(-1);
      return async () => {
        await system.stopServer(server);
        await system.startServer(server);
      };
    },
  },
  'runner-clock': {
    title: 'clock of a runner jumps to an hour ahead, then to an hour behind',
    lasts: 20,
    affectsRunner: true,
    unavailable: noFakeTime,
    async inject({ system, runner }) {
      const clock = createClock(system.folder, runner);
      await system.stopRunner(runner);
      await system.startRunner(runner, clock.env);
      clock.set(1);
      await seconds(20);
      clock.set(-1);
      return async () => {
        await system.stopRunner(runner);
        await system.startRunner(runner);
      };
    },
  },
};
