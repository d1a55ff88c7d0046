import type { Client } from 'pg';

/**
 * How long a connection may receive nothing while a statement is pending. Then it is destroyed: the statement rejects with `DatabaseLost`, and
 * the next one uses a new connection.
 *
 * A host that dies silently sends neither FIN nor RST. TCP keepalive finds that on an idle connection, but sends nothing while data are
 * unacknowledged, and Node has no option for TCP_USER_TIMEOUT: Linux then retransmits for 16 minutes. These limits take its place. They
 * count received bytes, so a long result is never cut off.
 *
 * A cut-off statement may still be executing, and may commit later. Every caller must already expect that of a lost connection: see
 * docs/decisions/0034-silent-databases.md. No cancel request is sent: it would end the wait of a commit for its synchronous standby, with
 * success.
 */
export const maxSilenceMs = {
  /** A statement that only shows that the host is alive. If it stays unanswered, so does everything else: see `destroySilent`. */
  pulse: 4_000,
  /** Triggers, claims, outcomes and appends: milliseconds, unless they wait for locks or for a standby. */
  engine: 30_000,
  /** Requests and background jobs. */
  everyday: 60_000,
  /** Migrations, backups and copies: building an index has no time limit. Keepalive finds a dead host while they execute. */
  bulk: 3_600_000,
} as const;

export type StatementKind = keyof typeof maxSilenceMs;

/** A client that received nothing for as long as its statement may take. */
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

/** Watches a connected client until it ends. Clients with the same `address` lead to the same host. */
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

/** Counts ticks instead of time: a process that was suspended or busy can read the replies that have arrived before a limit is reached. */
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
      destroy(client, new SilentConnection(maxSilenceMs.pulse));
      continue;
    }
    const limitMs = maxSilenceMs[kind];
    if (pending === 0 || waited * tickMs < limitMs) continue;
    const error = new SilentConnection(limitMs);
    if (kind === 'pulse') destroySilent(address, waited, error);
    destroy(client, error);
  }
}

/**
 * The host is silent: destroys each of its connections that has received nothing since the pulse was sent, also idle ones. The host may have died
 * while the pulse was pending, so the other connections must receive something again, each within the limit of a pulse. No later pulse would
 * find them: it may be sent to another host.
 */
function destroySilent(address: string, ticks: number, error: Error): void {
  for (const [client, state] of watched) {
    if (state.address !== address) continue;
    if (state.quiet >= ticks) destroy(client, error);
    else state.isSuspect = true;
  }
}

/** Drops a connection at once. `end()` of the driver would wait for the reply of a silent host. */
export function destroy(client: Client, error?: Error): void {
  watched.delete(client);
  client.connection.stream.destroy(error);
}

const receivedBytes = (client: Client): number =>
  (client.connection.stream as { readonly bytesRead?: number }).bytesRead ?? 0;
