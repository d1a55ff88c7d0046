/** The reason that a server should receive no requests. */
export class NotReady extends Error {
  override name = 'NotReady';
}

export interface ReadinessOptions {
  /** How long the database may fail before the server is not ready. */
  readonly graceMs?: number;
  /** Minimum interval between two queries of the database, however often readiness is requested. */
  readonly everyMs?: number;
  /** A response that takes longer counts as a failure. */
  readonly maxAnswerMs?: number;
  /** How long notifications have not arrived at this process. */
  readonly missingMs?: () => number;
  readonly now?: () => number;
}

/**
 * Returns a function that rejects with `NotReady` while requests cannot be served here and may be served elsewhere. Either the database has not
 * responded for some seconds, or it became a standby while this server kept its connections, or its notifications do not arrive here. One slow
 * response or one lost connection is not enough, so the server does not flap. Nothing else counts: a fault of the database itself affects all servers equally.
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
    // While a query is pending, no other one is sent.
    pending ??= isReadOnly().finally(() => (pending = undefined));
    try {
      const readOnly = await answerWithin(pending, maxAnswerMs);
      failing = readOnly
        ? { since: failing?.since ?? since, why: 'The database is a standby and does not accept writes' }
        : undefined;
    } catch {
      failing = { since: failing?.since ?? since, why: 'The database does not answer' };
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
