import { Times } from './buckets.ts';
import { seriesName } from './series.ts';

/** The counters of `run_stats`. */
export const counted = [
  'triggered',
  'completed',
  'failed',
  'crashed',
  'system_failure',
  'timed_out',
  'canceled',
  'expired',
  'retried',
  'new_errors',
  'regressed_errors',
] as const;
export type Counted = (typeof counted)[number];

/** The runs that an event is counted for. */
export interface Subject {
  readonly env: number;
  readonly task: string;
  /** The names of the queue and the version; undefined if unknown or absent. */
  readonly queue?: string | undefined;
  readonly version?: string | undefined;
}

/** The counts of one series. */
export interface Counts extends Partial<Record<Counted, number>> {
  waited?: Times;
  lasted?: Times;
  maxWaiting?: number;
  maxOldestMs?: number;
}

/** Unflushed counts of a process: by minute, and by environment and series. */
export type Pending = Map<
  number,
  Map<string, { readonly env: number; readonly series: string; readonly counts: Counts }>
>;

export interface RunStats {
  count(subject: Subject, what: Counted, at: number, n?: number): void;
  /** An attempt was sent to a runner, after waiting in its queue. Times are in milliseconds. */
  started(subject: Subject, waitedMs: number, at: number): void;
  /** An attempt ended. Times are in milliseconds. */
  ended(subject: Subject, lastedMs: number, at: number): void;
  /** A sample of a queue, or without one, of the whole environment. */
  sampled(env: number, queue: string | undefined, waiting: number, oldestMs: number, at: number): void;
  /** A statement wrote this many items together. */
  wrote(what: 'trigger' | 'complete', items: number): void;
  /** A schedule fired this many milliseconds after it was due. */
  fired(lagMs: number): void;
  /** All counts since the last call. */
  take(): Pending;
  /** Called for each event when it is counted. */
  readonly listeners: Set<StatsListener>;
}

export interface StatsListener {
  counted(subject: Subject, what: Counted, n: number): void;
  started(subject: Subject, waitedMs: number): void;
  ended(subject: Subject, lastedMs: number): void;
  wrote(what: string, items: number): void;
  fired(lagMs: number): void;
}

const minuteMs = 60_000;
/** Maximum series of one minute. Events beyond that are only counted in the series of their environment. */
export const maxSeries = 20_000;

/** Maximum minutes in memory, since nothing is flushed while the installation is paused. Later events are counted in the last of them. */
const maxMinutes = 60;

/** Converts a name to one that PostgreSQL can store, because a request may send any task name. */
const storable = (name: string): string =>
  isPlain.test(name) ? name : name.toWellFormed().replaceAll('\0', '');
const isPlain = /^[ -~]*$/;

/** Counts in memory. A run costs a few map lookups. */
export function createRunStats(): RunStats {
  let pending: Pending = new Map();
  const listeners = new Set<StatsListener>();

  const seriesOf = (env: number, series: string, at: number): Counts | undefined => {
    let minute = Math.floor(at / minuteMs) * minuteMs;
    if (pending.size >= maxMinutes && !pending.has(minute)) minute = Math.max(...pending.keys());
    let ofMinute = pending.get(minute);
    if (!ofMinute) pending.set(minute, (ofMinute = new Map()));
    const key = `${env} ${series}`;
    const entry = ofMinute.get(key);
    if (entry) return entry.counts;
    if (ofMinute.size >= maxSeries && series !== seriesName.all) return undefined;
    const counts: Counts = {};
    ofMinute.set(key, { env, series, counts });
    return counts;
  };

  /** All series of a subject in this minute. Most runs belong to few subjects. */
  const known = new Map<string, Counts[]>();
  const each = ({ env, task, queue, version }: Subject, at: number, act: (counts: Counts) => void): void => {
    const key = `${env} ${Math.floor(at / minuteMs)} ${task}\n${queue}\n${version}`;
    const found = known.get(key);
    if (found) return found.forEach(act);
    const names = [seriesName.all, seriesName.task(storable(task))];
    if (queue !== undefined) names.push(seriesName.queue(storable(queue)));
    if (version !== undefined)
      names.push(
        seriesName.version(storable(version)),
        seriesName.versionTask(storable(version), storable(task)),
      );
    const all = names.flatMap((name) => seriesOf(env, name, at) ?? []);
    known.set(key, all);
    all.forEach(act);
  };

  return {
    listeners,
    count(subject, what, at, n = 1) {
      each(subject, at, (counts) => (counts[what] = (counts[what] ?? 0) + n));
      for (const listener of listeners) listener.counted(subject, what, n);
    },
    started(subject, waitedMs, at) {
      const ms = Math.max(0, waitedMs);
      each(subject, at, (counts) => (counts.waited ??= new Times()).observe(ms));
      for (const listener of listeners) listener.started(subject, ms);
    },
    ended(subject, lastedMs, at) {
      const ms = Math.max(0, lastedMs);
      each(subject, at, (counts) => (counts.lasted ??= new Times()).observe(ms));
      for (const listener of listeners) listener.ended(subject, ms);
    },
    sampled(env, queue, waiting, oldestMs, at) {
      const counts = seriesOf(env, queue === undefined ? seriesName.all : seriesName.queue(queue), at);
      if (!counts) return;
      counts.maxWaiting = Math.max(counts.maxWaiting ?? 0, waiting);
      counts.maxOldestMs = Math.max(counts.maxOldestMs ?? 0, oldestMs);
    },
    wrote(what, items) {
      for (const listener of listeners) listener.wrote(what, items);
    },
    fired(lagMs) {
      for (const listener of listeners) listener.fired(Math.max(0, lagMs));
    },
    take() {
      const taken = pending;
      pending = new Map();
      known.clear();
      return taken;
    },
  };
}

/** Adds new counts to previous ones, which are changed; the new ones are not. */
export function mergeInto(target: Pending, added: Pending): void {
  for (const [minute, series] of added) {
    const known = target.get(minute) ?? new Map<string, { env: number; series: string; counts: Counts }>();
    target.set(minute, known);
    for (const [key, { env, series: name, counts }] of series) {
      const merged = known.get(key)?.counts ?? {};
      known.set(key, { env, series: name, counts: merged });
      const { waited, lasted, maxWaiting, maxOldestMs, ...numbers } = counts;
      for (const what of counted)
        if (numbers[what] !== undefined) merged[what] = (merged[what] ?? 0) + numbers[what];
      if (waited) (merged.waited ??= new Times()).add(waited);
      if (lasted) (merged.lasted ??= new Times()).add(lasted);
      if (maxWaiting !== undefined) merged.maxWaiting = Math.max(merged.maxWaiting ?? 0, maxWaiting);
      if (maxOldestMs !== undefined) merged.maxOldestMs = Math.max(merged.maxOldestMs ?? 0, maxOldestMs);
    }
  }
}
