import type { Client } from 'pg';

/**
 * How long a connection may receive nothing while a statement is pending. After that it is destroyed: the statement rejects with
 * `DatabaseLost`, and the next one uses a new connection.
 *
 * A host that dies silently sends neither FIN nor RST. TCP keepalive detects this on an idle connection, but sends nothing while data is
 * unacknowledged, in which case Linux retransmits for 16 minutes. Node has no option for TCP_USER_TIMEOUT, so these limits replace it. They
 * are based on received bytes, so a long result is never cut off.
 *
 * A cut-off statement may still be executing and may commit later. Every caller must already expect that of a lost connection (see
 * docs/decisions/0034-silent-databases.md). No cancel request is sent, because it would end a commit's wait for its synchronous standby and
 * report success.
 */
export const maxSilenceMs = {
  /** A statement that only checks that the host is alive. If it stays unanswered, so does everything else (see `destroySilent`). */
  pulse: 4_000,
  /** Triggers, claims, outcomes and appends: milliseconds, unless they wait for locks or for a standby. */
  engine: 30_000,
  /** For requests and background jobs. */
  everyday: 60_000,
  /**
   * For migrations, backups and copies, because building an index may take any amount of time. Keepalive detects a dead host in the
   * meantime.
   */
  bulk: 3_600_000,
} as const;

export type StatementKind = keyof typeof maxSilenceMs;

/** The client received nothing for as long as its statement may take. */
export class SilentConnection extends Error {
  override name = 'SilentConnection';

  constructor(ms: number) {
    super(`no answer within ${ms / 1_000} seconds`);
  }
}

interface Watched {
  readonly address: string;
  bytes: number;
  /** Ticks since it received anything. */
  quiet: number;
  pending: number;
  /** Ticks since the first pending statement was sent, or since it received anything. */
  waited: number;
  kind: StatementKind;
  /** Whether a pulse to its host has failed, and it has received nothing since. */
  isSuspect: boolean;
}

const tickMs = 250;
const watched = new Map<Client, Watched>();
let timer: NodeJS.Timeout | undefined;

/** How many connections of this process were destroyed because they were silent. */
let silenced = 0;
/** When the last ones were, by `performance.now()`. */
const silencedAt: number[] = [];
const maxTimes = 1_000;

/** The connections of this process that were destroyed because they were silent: in total, and in the last `withinMs`. */
export function silentConnections(withinMs: number): {
  readonly total: number;
  readonly recent: number;
  /** Time since the last one. */
  readonly lastMs: number;
} {
  const now = performance.now();
  return {
    total: silenced,
    recent: silencedAt.filter((at) => now - at <= withinMs).length,
    lastMs: now - (silencedAt.at(-1) ?? 0),
  };
}

/** Watches a connected client until it ends. Clients with the same `address` have the same host. */
export function watchClient(client: Client, address: string): void {
  watched.set(client, {
    address,
    bytes: receivedBytes(client),
    quiet: 0,
    pending: 0,
    waited: 0,
    kind: 'everyday',
    isSuspect: false,
  });
  client.once('end', () => {
    watched.delete(client);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  });
  timer ??= setInterval(tick, tickMs).unref();
}

/** Limits the silence until `work`, a statement that was sent on `client`, settles. */
export async function answered<R>(client: Client, kind: StatementKind, work: Promise<R>): Promise<R> {
  const state = watched.get(client);
  if (state === undefined) return work;
  if (state.pending++ === 0) state.waited = 0;
  state.kind = kind;
  try {
    return await work;
  } finally {
    state.pending--;
  }
}

/** Destroys every connection to an address, because its host can no longer be used, for example after it became a standby. */
export function destroyAll(address: string, error: Error): void {
  for (const [client, state] of watched) if (state.address === address) destroy(client, error);
}

/**
 * Counts ticks instead of time, so that a process that was suspended or busy can read the replies that have arrived before a limit is
 * reached.
 */
function tick(): void {
  for (const [client, state] of watched) {
    const bytes = receivedBytes(client);
    if (bytes === state.bytes) {
      state.quiet++;
      state.waited++;
    } else {
      state.bytes = bytes;
      state.quiet = 0;
      state.waited = 0;
      state.isSuspect = false;
    }
  }
  for (const [client, { address, kind, pending, waited, quiet, isSuspect }] of watched) {
    if (isSuspect && quiet * tickMs >= maxSilenceMs.pulse) {
      destroySilent(client, new SilentConnection(maxSilenceMs.pulse));
      continue;
    }
    const limitMs = maxSilenceMs[kind];
    if (pending === 0 || waited * tickMs < limitMs) continue;
    const error = new SilentConnection(limitMs);
    if (kind === 'pulse') destroyHost(address, waited, error);
    destroySilent(client, error);
  }
}

/**
 * The host is silent: destroys each of its connections that has received nothing since the pulse was sent, including idle ones. The host may
 * have died while the pulse was pending, so the other connections must receive something again, each within the limit of a pulse. No
 * later pulse would find them: it may be sent to another host.
 */
function destroyHost(address: string, ticks: number, error: Error): void {
  for (const [client, state] of watched) {
    if (state.address !== address) continue;
    if (state.quiet >= ticks) destroySilent(client, error);
    else state.isSuspect = true;
  }
}

function destroySilent(client: Client, error: Error): void {
  // `destroyHost` has destroyed the client of the pulse as well.
  if (!watched.has(client)) return;
  silenced++;
  silencedAt.push(performance.now());
  if (silencedAt.length > maxTimes) silencedAt.shift();
  destroy(client, error);
}

/** Drops a connection immediately. The driver's `end()` would wait for a reply from the silent host. */
export function destroy(client: Client, error?: Error): void {
  watched.delete(client);
  client.connection.stream.destroy(error);
}

const receivedBytes = (client: Client): number =>
  (client.connection.stream as { readonly bytesRead?: number }).bytesRead ?? 0;
