/** Depth: how fast runs are taken from a million queued runs, compared with ten thousand. */
import { Collector } from '../collector.ts';
import { now } from '../clock.ts';
import { openCaller } from '../open-caller.ts';
import type { Address, System } from '../system.ts';
import type { Settings, Workload } from '../workload.ts';

const shallow = 10_000;
/** Left out at the beginning: starting up is not the question. */
const skipped = 500;
const capMs = 60_000;

export const w7: Workload = {
  title: 'W7 depth: the rate of draining 10,000 queued, and 10,000 out of 1,000,000',
  systems: ['millrace', 'graphile', 'pgboss', 'bullmq:everysec'],
  compared: { slowdown: 'less' },
  async measure(system, address, settings) {
    const few = await taken(system, address, settings, shallow);
    const many = await taken(system, await system.begin(), settings, settings.n ?? 1_000_000);
    return {
      shallowPerS: few.perS,
      deepPerS: many.perS,
      slowdown: few.perS / many.perS,
      shallowFirstMs: few.firstMs,
      deepFirstMs: many.firstMs,
      fillS: many.fillS,
      twice: few.twice + many.twice,
    };
  },
};

async function taken(system: System, address: Address, settings: Settings, depth: number) {
  const { profile = 'tuned', concurrency } = settings;
  const fillingAt = now();
  const caller = await openCaller(system, address, profile);
  await caller.ask({ act: 'fill', n: system.clone ? 1 : depth });
  await caller.close();
  await system.clone?.(depth);
  const fillS = (now() - fillingAt) / 1000;

  const collector = await Collector.open();
  const runner = await system.startRunner({ profile, concurrency, socket: collector.path });
  await collector.reached(shallow, capMs);
  const { numbers, startedAt } = await collector.starts();
  await runner.kill();
  collector.close();
  const times = startedAt.toSorted((a, b) => a - b);
  const last = Math.min(times.length, shallow) - 1;
  const spanMs = (times[last] ?? NaN) - (times[skipped] ?? NaN);
  return {
    perS: ((last - skipped) / spanMs) * 1000,
    firstMs: (times[0] ?? NaN) - runner.spawnedAt,
    fillS,
    twice: numbers.length - new Set(numbers).size,
  };
}
