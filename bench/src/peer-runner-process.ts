import { end, ended, Script } from './child.ts';
import { source } from './folders.ts';
import type { Address, Runner, RunnerOptions } from './system.ts';

/** Starts a peer's runner in a separate process (`peer-runner.ts`). */
export async function startPeerRunner(
  system: string,
  address: Address,
  { profile, concurrency, hang, socket }: RunnerOptions,
): Promise<Runner> {
  const script = new Script(source('peer-runner.ts'), { BENCH_SOCKET: socket, BENCH_HANG: hang ? '1' : '0' });
  const { startedAt } = await script.ask<{ startedAt: number }>({ system, address, profile, concurrency });
  return {
    pid: script.pid,
    spawnedAt: script.spawnedAt,
    startedAt,
    async kill() {
      script.child.kill('SIGKILL');
      await ended(script.child);
    },
    stop: () => end(script.child, 4_000),
  };
}
