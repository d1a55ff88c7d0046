/** A measurement that differs more from the last one is a jump of the clock. */
const jumpMs = 30_000;
/** Longer than the validity of the credentials that a runner signed by the earlier clock. */
const earlierClockMs = 15 * 60_000;

interface TokenClock {
  /** A measurement of the database's clock, minus the monotonic clock of this process. */
  measured(offset: number): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * The clock by which tokens expire. After a failover, the clock of the database's new host may be ahead. For a while, tokens then expire by the
 * earlier clock, which they were signed by; otherwise every executing run would lose its access to the API.
 */
export function createTokenClock(monotonic: () => number = () => performance.now()): TokenClock {
  let latest = 0;
  let earlier: { readonly offset: number; readonly until: number } | undefined;
  let isMeasured = false;
  return {
    measured(offset) {
      if (isMeasured && offset - latest > jumpMs) {
        const at = monotonic();
        const retained = earlier && at < earlier.until ? Math.min(earlier.offset, latest) : latest;
        earlier = { offset: retained, until: at + earlierClockMs };
      }
      latest = offset;
      isMeasured = true;
    },
    now() {
      const at = monotonic();
      return at + (earlier && at < earlier.until ? Math.min(earlier.offset, latest) : latest);
    },
  };
}
