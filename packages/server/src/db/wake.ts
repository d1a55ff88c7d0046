import { background } from '../background.ts';
import type { Log } from '../logger.ts';
import type { Clock } from './clock.ts';
import type { Sql } from './connect.ts';
import type { Listening } from './listen.ts';

/**
 * A message from one process to the others. A wake is only a hint and may get lost. The tables are authoritative and are polled at longer
 * intervals.
 */
export type Wake =
  | { readonly kind: 'queued'; readonly env: number }
  /** Versions of this environment changed, or runners should load the `requested` one. */
  | { readonly kind: 'versions'; readonly env: number; readonly requested?: number }
  /** A branch of this environment was created or archived. */
  | { readonly kind: 'branches'; readonly env: number }
  /** Variables of this environment, or of one of its branches, changed. */
  | { readonly kind: 'variables'; readonly env: number }
  /** A credential, or its account or environment, is no longer valid. */
  | { readonly kind: 'access' }
  /** A subscriber in that process watches runs of this environment. */
  | { readonly kind: 'watching'; readonly env: number }
  /** Runs of an environment that the receiver watches have changed. */
  | { readonly kind: 'runs'; readonly env: number }
  /** A follower in that process reads log lines of this environment. */
  | { readonly kind: 'followsLines'; readonly env: number }
  /** Log lines of an environment that the receiver follows were stored. */
  | { readonly kind: 'lines'; readonly env: number }
  /** A transaction that triggered a run has committed. The database itself sends it. */
  | { readonly kind: 'outbox' }
  /** A rate limit blocks runs for this many milliseconds. Sent by the database itself. */
  | { readonly kind: 'promotion'; readonly inMs: number }
  /** The installation was paused or resumed. */
  | { readonly kind: 'pause' }
  /** Records were appended to this channel. */
  | { readonly kind: 'channel'; readonly channel: string }
  | { readonly kind: 'cancel'; readonly runner: string; readonly fences: readonly number[] }
  /** A user changed the requested state of this runner, which is in its row. */
  | { readonly kind: 'runner'; readonly runner: string }
  /** Suspended runs of this runner have been resumed. */
  | { readonly kind: 'resumed'; readonly runner: string };

export interface Wakes {
  /** Sends a wake to the other processes. Wakes within 10 ms share one notification. Does nothing if no other process exists. */
  notify(wake: Wake): void;
  listen(listener: (wake: Wake) => void): void;
  stop(): Promise<void>;
}

/** Whether notifications arrive at this process. */ export interface Delivery {
  /** How long ago this process committed an announcement that has not arrived back; 0 while announcements arrive. */
  readonly missingMs: number;
  /** How many times the listener's connection was reopened. */
  readonly reopened: number;
}

const channel = 'millrace';
const gatherMs = 10;
const presenceMs = 3_000;

/**
 * Sends wakes between the server processes of one database, with NOTIFY, outside of hot transactions, because a notification in each commit
 * costs two fifths of the throughput. Processes announce themselves at start and every few seconds. A process without peers sends nothing
 * else.
 *
 * The announcement also arrives at its sender. If one was committed and has not arrived before the next one, the listener is open but
 * receives nothing, for example behind a pooler in transaction mode. Its connection is then replaced.
 */
export async function startWakes(
  sql: Sql,
  log: Log,
  clock: Clock,
  directSql: Pick<Sql, 'listen'> = sql,
): Promise<Wakes & { readonly delivery: Delivery }> {
  const self = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  const listeners: ((wake: Wake) => void)[] = [];
  const seen = new Map<string, number>();
  let pending = new Map<string, Wake>();
  let timer: NodeJS.Timeout | undefined;

  const send = async (wakes: readonly (Wake | { kind: 'here' })[]): Promise<void> => {
    if (wakes.length === 0) return;
    const text = JSON.stringify({ from: self, wakes });
    // A notification holds at most 8,000 bytes.
    if (text.length < 7_900) {
      await sql`select pg_notify(${channel}, ${text})`;
    } else if (wakes.length > 1) {
      const half = Math.ceil(wakes.length / 2);
      await Promise.all([send(wakes.slice(0, half)), send(wakes.slice(half))]);
    }
  };
  const lost = (): void => log.warn('database.lost', { at: 'notify' });

  /** When the first announcement that has not arrived was committed. */
  let missingSince: number | undefined;
  /** `reopened` of the listener at the last announcement, until it arrives. */
  let expectedBy: number | undefined;
  const announce = async (): Promise<void> => {
    expectedBy = listening?.reopened ?? 0;
    await send([{ kind: 'here' }]);
    // It may arrive before or after the reply.
    if (expectedBy !== undefined) missingSince ??= performance.now();
  };

  // Not set yet while the first notification arrives.
  let listening: Listening | undefined;
  const opened = await directSql.listen(channel, (text) => {
    const { from, wakes } = JSON.parse(text) as { from?: string; wakes: (Wake | { kind: 'here' })[] };
    if (from === self) {
      // Announcements are the only messages that a process sends to itself.
      if (wakes.some(({ kind }) => kind === 'here')) {
        expectedBy = undefined;
        missingSince = undefined;
      }
      return;
    }
    // A notification from the database itself has no sending process. A process that has just started sends nothing until it knows a peer,
    // so it gets an immediate reply.
    if (from !== undefined) {
      if (!seen.has(from)) announce().catch(lost);
      seen.set(from, clock.now());
    }
    for (const wake of wakes) {
      if (wake.kind !== 'here') for (const listener of listeners) listener(wake);
    }
  });
  listening = opened;
  const stopAnnouncing = background(
    presenceMs,
    async () => {
      for (const [peer, at] of seen) if (at < clock.now() - 3 * presenceMs) seen.delete(peer);
      // The next tick announces again, over the new connection.
      if (missingSince !== undefined && expectedBy === opened.reopened) {
        log.warn('listener.silent', { forMs: Math.round(performance.now() - missingSince) });
        opened.reopen();
        return;
      }
      await announce();
    },
    lost,
  );
  announce().catch(lost);

  return {
    notify(wake) {
      if (seen.size === 0) return;
      pending.set(identityOf(wake), wake);
      timer ??= setTimeout(() => {
        timer = undefined;
        const wakes = [...pending.values()];
        pending = new Map();
        send(wakes).catch(lost);
      }, gatherMs);
    },
    listen: (listener) => void listeners.push(listener),
    delivery: {
      get missingMs() {
        return missingSince === undefined ? 0 : performance.now() - missingSince;
      },
      get reopened() {
        return opened.reopened;
      },
    },
    async stop() {
      stopAnnouncing();
      clearTimeout(timer);
      await opened.unlisten().catch(() => {});
    },
  };
}

/** Wakes with the same identity within the gathering period are sent once. */
function identityOf(wake: Wake): string {
  if (wake.kind === 'cancel') return `${wake.runner} ${wake.fences.join()}`;
  if (wake.kind === 'access') return wake.kind;
  if (wake.kind === 'resumed' || wake.kind === 'runner') return `${wake.kind} ${wake.runner}`;
  if (wake.kind === 'pause' || wake.kind === 'outbox' || wake.kind === 'promotion') return wake.kind;
  if (wake.kind === 'versions') return `${wake.kind} ${wake.env} ${wake.requested ?? ''}`;
  return `${wake.kind} ${wake.kind === 'channel' ? wake.channel : wake.env}`;
}
