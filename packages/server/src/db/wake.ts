import type { Log } from '../logger.ts';
import type { Clock } from './clock.ts';
import type { Sql } from './connect.ts';

/** What one process tells the others. It is only ever a hint: the tables are the truth and slow polls stand behind it. */
export type Wake =
  | { readonly kind: 'queued'; readonly env: number }
  | { readonly kind: 'versions'; readonly env: number }
  /** Variables of this environment, or of one of its branches, changed. */
  | { readonly kind: 'variables'; readonly env: number }
  /** A credential, or what it is of, has ended. */
  | { readonly kind: 'access' }
  /** Somebody there watches runs of this environment. */
  | { readonly kind: 'watching'; readonly env: number }
  /** Runs of an environment that is watched there changed. */
  | { readonly kind: 'runs'; readonly env: number }
  /** The installation was paused or resumed. */
  | { readonly kind: 'pause' }
  /** Records were appended to this channel. */
  | { readonly kind: 'channel'; readonly channel: string }
  | { readonly kind: 'cancel'; readonly runner: string; readonly fences: readonly number[] }
  /** Suspended runs whose code this runner holds have their places back. */
  | { readonly kind: 'resumed'; readonly runner: string };

export interface Wakes {
  /** Tells the other processes, soon, and as one notification for all that is told within 10 ms. Free when alone. */
  tell(wake: Wake): void;
  listen(hear: (wake: Wake) => void): void;
  stop(): Promise<void>;
}

const channel = 'millrace';
const gatherMs = 10;
const presenceMs = 5_000;

/**
 * Wake-ups between the server processes of one database, by NOTIFY outside of every hot transaction (a notification inside each
 * commit costs two fifths of the throughput). A process that is alone notifies nobody: it counts its peers every few seconds,
 * and a new process makes itself known at start.
 */
export async function startWakes(
  sql: Sql,
  log: Log,
  clock: Clock,
  directSql: Pick<Sql, 'listen'> = sql,
): Promise<Wakes> {
  const self = `${process.pid}-${Math.random().toString(36).slice(2)}`;
  const hearers: ((wake: Wake) => void)[] = [];
  const seen = new Map<string, number>();
  let pending = new Map<string, Wake>();
  let timer: NodeJS.Timeout | undefined;

  const send = (wakes: readonly (Wake | { kind: 'here' })[]): void => {
    if (wakes.length === 0) return;
    const text = JSON.stringify({ from: self, wakes });
    // A notification holds at most 8,000 bytes.
    if (text.length < 7_900) {
      sql`select pg_notify(${channel}, ${text})`.catch(() => log.warn('database.lost', { at: 'notify' }));
    } else if (wakes.length > 1) {
      const half = Math.ceil(wakes.length / 2);
      send(wakes.slice(0, half));
      send(wakes.slice(half));
    }
  };

  const listening = await directSql.listen(channel, (text) => {
    const { from, wakes } = JSON.parse(text) as { from: string; wakes: (Wake | { kind: 'here' })[] };
    if (from === self) return;
    // Who has just begun would tell nobody anything until it hears of somebody.
    if (!seen.has(from)) send([{ kind: 'here' }]);
    seen.set(from, clock.now());
    for (const wake of wakes) {
      if (wake.kind !== 'here') for (const hear of hearers) hear(wake);
    }
  });
  const presence = setInterval(() => {
    for (const [peer, at] of seen) if (at < clock.now() - 3 * presenceMs) seen.delete(peer);
    send([{ kind: 'here' }]);
  }, presenceMs);
  presence.unref();
  send([{ kind: 'here' }]);

  return {
    tell(wake) {
      if (seen.size === 0) return;
      pending.set(identityOf(wake), wake);
      timer ??= setTimeout(() => {
        timer = undefined;
        const wakes = [...pending.values()];
        pending = new Map();
        send(wakes);
      }, gatherMs);
    },
    listen: (hear) => void hearers.push(hear),
    async stop() {
      clearInterval(presence);
      clearTimeout(timer);
      await listening.unlisten().catch(() => {});
    },
  };
}

/** What is told twice within the time of gathering is sent once. */
function identityOf(wake: Wake): string {
  if (wake.kind === 'cancel') return `${wake.runner} ${wake.fences.join()}`;
  if (wake.kind === 'access') return wake.kind;
  if (wake.kind === 'resumed') return `resumed ${wake.runner}`;
  if (wake.kind === 'pause') return wake.kind;
  return `${wake.kind} ${wake.kind === 'channel' ? wake.channel : wake.env}`;
}
