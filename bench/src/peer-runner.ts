/** A process that executes runs through a peer's library, with the same body that Millrace's task has. */
import { body } from '../project/recorder.ts';
import { now } from './clock.ts';
import { answer } from './child.ts';
import { loadPeer } from './inside/load.ts';
import type { Address, Profile } from './system.ts';

interface Start {
  readonly system: string;
  readonly address: Address;
  readonly profile: Profile;
  readonly concurrency?: number;
}

let stop: (() => Promise<unknown>) | undefined;

answer(async ({ system, address, profile, concurrency }: Start) => {
  const { execute } = await loadPeer(system);
  const startedAt = now();
  stop = await execute(address, profile, concurrency, body);
  return { startedAt };
});

process.on('SIGTERM', () => {
  const patience = setTimeout(() => process.exit(0), 2_500);
  void Promise.resolve(stop?.()).finally(() => {
    clearTimeout(patience);
    process.exit(0);
  });
});
