/** The clock of a machine jumps by an hour, forwards or backwards. */
import { signal } from '../network/namespaces.ts';
import { createClock, noFakeTime, type Clock } from '../system/clock.ts';
import { allMembersReady, leader, startMember, switchover, synchronousStandby } from '../system/postgres.ts';
import { seconds, until } from '../time.ts';
import type { Injecting, Scenario } from './scenario.ts';

/** Makes a member the leader whose clock can be set. Only the synchronous standby can be promoted, so the other one becomes it. */
async function leadWithClock({ system, leader: from, replicas }: Injecting): Promise<Clock> {
  const synchronous = await until('there is a synchronous standby', 30, synchronousStandby);
  const member = replicas.find((name) => name !== synchronous) ?? synchronous;
  const clock = createClock(system.folder, member);
  signal(member, 'SIGKILL');
  startMember(system.folder, member, clock.env);
  await allMembersReady();
  signal(synchronous, 'SIGKILL');
  await until(
    `${member} is the synchronous standby`,
    60,
    async () => (await synchronousStandby()) === member,
  );
  startMember(system.folder, synchronous);
  switchover(system.folder, from, member);
  await until(`${member} leads`, 60, async () => (await leader()) === member);
  return clock;
}

export const clocks: Readonly<Record<string, Scenario>> = {
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
  'database-clock-behind': {
    title: 'clock of the database jumps back by an hour for 40 s',
    lasts: 40,
    unavailable: noFakeTime,
    async inject(injecting) {
      const clock = await leadWithClock(injecting);
      clock.set(-1);
      return () => clock.set(0);
    },
  },
  'database-clock-ahead': {
    title: 'clock of the database jumps ahead by an hour',
    lasts: 'until all runs have ended',
    unavailable: noFakeTime,
    async inject(injecting) {
      const clock = await leadWithClock(injecting);
      clock.set(1);
      return () => clock.set(0);
    },
  },
};
