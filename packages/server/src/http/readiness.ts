/** The reason why a server should not receive requests. */
export class NotReady extends Error {
  override name = 'NotReady';
}

export interface ReadinessOptions {
  /** How long the database may fail before the server is considered not ready. */
  readonly graceMs?: number;
  /** Minimum interval between two queries of the database, regardless of how often readiness is requested. */
  readonly everyMs?: number;
  /** A response that takes longer counts as a failure. */
  readonly maxAnswerMs?: number;
  /** How long this process has received no notifications. */
  readonly missingMs?: () => number;
  readonly now?: () => number;
}

/**
 * Returns a function that rejects with `NotReady` while requests cannot be served here and may be served elsewhere. This is the case if the
 * database has not responded for some seconds, became a standby while this server kept its connections, or its notifications do not arrive
 * here. One slow response or lost connection is not enough, so the server does not flap. Nothing else counts, because a fault in the
 * database itself affects all servers equally.
 */
export function createReadiness(
  isReadOnly: () => Promise<boolean>,
  {
    graceMs = 5_000,
    everyMs = 1_000,
    maxAnswerMs = 1_500,
    missingMs = () => 0,
    now = () => performance.now(),
  }: ReadinessOptions = {},
): () => Promise<void> {
  let pending: Promise<boolean> | undefined;
  let asking: Promise<void> | undefined;
  let checkedAt = -Infinity;
  let failing: { readonly since: number; readonly why: string } | undefined;

  const ask = async (): Promise<void> => {
    checkedAt = now();
    const since = checkedAt;
    // No other query is sent while one is pending.
    pending ??= isReadOnly().finally(() => (pending = undefined));
    try {
      const readOnly = await answerWithin(pending, maxAnswerMs);
      failing = readOnly
        ? { since: failing?.since ?? since, why: 'The database is a standby and does not accept writes' }
        : undefined;
    } catch {
      failing = { since: failing?.since ?? since, why: 'The database does not respond' };
    }
  };

  return async () => {
    if (!asking && now() - checkedAt >= everyMs) asking = ask().finally(() => (asking = undefined));
    await asking;
    if (failing && now() - failing.since >= graceMs) throw new NotReady(failing.why);
    if (missingMs() >= graceMs) throw new NotReady('Database notifications do not arrive');
  };
}

async function answerWithin<R>(answer: Promise<R>, ms: number): Promise<R> {
  answer.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ms, new Error('late'));
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
