/** A measurement that differs from the last one by more than this is a jump of the clock. */
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
 * The clock used for token expiry. After a failover, the clock of the new database host may be ahead. For a while, tokens then expire by
 * the earlier clock, with which they were signed; otherwise every executing run would lose access to the API.
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
