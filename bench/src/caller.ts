/** A process that triggers runs, of any system. */
import type { Sample } from '../project/recorder.ts';
import { loadClient } from './inside/load.ts';
import { answer } from './child.ts';
import { now, sleep } from './clock.ts';
import { percentile } from './statistics.ts';
import type { Address, Client, Profile } from './system.ts';

export type Ask =
  | { readonly act: 'open'; readonly system: string; readonly address: Address; readonly profile: Profile }
  /** Concurrent callers, each making its next call when the previous one has returned. */
  | { readonly act: 'burst'; readonly n: number; readonly callers: number; readonly first?: number }
  /** With one call for many runs, or by 500 callers. */
  | { readonly act: 'fill'; readonly n: number }
  /** A call every `gapMs`, each completed before the next unless `open`. */
  | { readonly act: 'paced'; readonly n: number; readonly gapMs: number; readonly open: boolean };

export interface Burst {
  readonly wallMs: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface Paced extends Burst {
  readonly failed: number;
  readonly maxOpen: number;
}

const pad = 'x'.repeat(160);
const sample = (i: number): Sample => ({ i, t: now(), pad });
let client: Client | undefined;

answer(async (ask: Ask) => {
  if (ask.act === 'open') {
    const { openClient } = await loadClient(ask.system);
    client = await openClient(ask.address, ask.profile);
    return null;
  }
  if (!client) throw new Error('open first');
  if (ask.act === 'burst') return burst(client, ask.n, ask.callers, ask.first ?? 0);
  if (ask.act === 'paced') return paced(client, ask.n, ask.gapMs, ask.open);
  const { addMany } = client;
  if (!addMany) return burst(client, ask.n, 500, 0);
  for (let from = 0; from < ask.n; from += 1_000) {
    await addMany(Array.from({ length: Math.min(1_000, ask.n - from) }, (_, k) => sample(from + k)));
  }
  return null;
});

const summary = (started: number, latencies: readonly number[]): Burst => ({
  wallMs: now() - started,
  p50: percentile(latencies, 50),
  p99: percentile(latencies, 99),
});

async function burst(through: Client, n: number, callers: number, first: number): Promise<Burst> {
  const latencies: number[] = [];
  let next = 0;
  const started = now();
  const caller = async (_: unknown, number: number): Promise<void> => {
    while (next < n) {
      const item = sample(first + next++);
      await through.add(item, number);
      latencies.push(now() - item.t);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return summary(started, latencies);
}

async function paced(through: Client, n: number, gapMs: number, open: boolean): Promise<Paced> {
  const latencies: number[] = [];
  const calls: Promise<void>[] = [];
  let failed = 0;
  let underWay = 0;
  let maxOpen = 0;
  const started = now();
  for (let i = 0; i < n; i++) {
    const wait = started + i * gapMs - now();
    if (wait > 0) await sleep(wait);
    const item = sample(i);
    maxOpen = Math.max(maxOpen, ++underWay);
    const call = through
      .add(item, 0)
      .then(
        () => void latencies.push(now() - item.t),
        () => void failed++,
      )
      .finally(() => underWay--);
    calls.push(call);
    if (!open) await call;
  }
  await Promise.all(calls);
  return { ...summary(started, latencies), failed, maxOpen };
}
