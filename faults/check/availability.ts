import type { Operation } from '../history/types.ts';

/** A result of the suite's own writes to the database, at the address that the servers use. */
export interface Probe {
  /** Identifies the row that it wrote. */
  readonly id: string;
  /** When the write began. */
  readonly at: number;
  readonly ok: boolean;
}

export interface Availability {
  readonly calls: number;
  readonly failedCalls: number;
  /** The longest time without an acknowledged trigger while triggers were sent, in seconds. */
  readonly maxOutage: number;
  /** From the first write that succeeded after an outage of the database, to the next acknowledged trigger; undefined without an outage. */
  readonly recovery: number | undefined;
  /** The longest time from an invocation to its acknowledgement. */
  readonly maxCall: number;
}

const toSeconds = (ms: number): number => Math.round(ms / 10) / 100;

export function availabilityOf(operations: readonly Operation[], probes: readonly Probe[]): Availability {
  // Records that a reader received are not calls, but a reader that failed is.
  const calls = operations.filter(({ call, error }) => call !== 'read' || error !== undefined);
  const acknowledged = calls
    .filter(({ call, error }) => call === 'trigger' && error === undefined)
    .map(({ endedAt }) => endedAt)
    .toSorted((a, b) => a - b);
  const lastInvokedAt = Math.max(...calls.map(({ call, invokedAt }) => (call === 'trigger' ? invokedAt : 0)));
  const gaps = acknowledged.map((at, index) => Math.min(at, lastInvokedAt) - (acknowledged[index - 1] ?? at));
  const answered = calls.filter(({ error }) => error === undefined);
  return {
    calls: calls.length,
    failedCalls: calls.length - answered.length,
    maxOutage: toSeconds(Math.max(0, ...gaps)),
    recovery: recoveryOf(acknowledged, probes),
    maxCall: toSeconds(Math.max(0, ...answered.map(({ invokedAt, endedAt }) => endedAt - invokedAt))),
  };
}

/**
 * The slowest of all recoveries: a database may fail several times. On a full disk, some writes succeed between others that fail; the database
 * is back with the first after the last failure.
 */
function recoveryOf(acknowledged: readonly number[], probes: readonly Probe[]): number | undefined {
  const backAt = probes.filter(({ ok }, index) => ok && probes[index - 1]?.ok === false).map(({ at }) => at);
  const recoveries = backAt.flatMap((at) => {
    const next = acknowledged.find((acknowledgedAt) => acknowledgedAt >= at);
    const failsAgain = probes.some((probe) => !probe.ok && probe.at > at && probe.at < (next ?? 0));
    return next === undefined || failsAgain ? [] : [toSeconds(next - at)];
  });
  return recoveries.length > 0 ? Math.max(...recoveries) : undefined;
}
