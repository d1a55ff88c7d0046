/** Why a server should get no requests. */
export class NotReady extends Error {
  override name = 'NotReady';
}

export interface ReadinessOptions {
  /** How long the database may fail before the server is not ready. */
  readonly graceMs?: number;
  /** The database is asked once in that time, however often the server is asked. */
  readonly everyMs?: number;
  /** An answer that takes longer counts as a failure. */
  readonly maxAnswerMs?: number;
  readonly now?: () => number;
}

/**
 * Returns a function that rejects with `NotReady` while requests cannot be served here and may be elsewhere: the database has not
 * answered for some seconds, or it became a standby while this server kept its connections. One slow answer or one lost connection is
 * not enough, so the server does not flap. Nothing else counts: what is wrong with the database itself is the same for all servers.
 */
export function createReadiness(
  isStandby: () => Promise<boolean>,
  {
    graceMs = 5_000,
    everyMs = 1_000,
    maxAnswerMs = 1_500,
    now = () => performance.now(),
  }: ReadinessOptions = {},
): () => Promise<void> {
  let asked: Promise<boolean> | undefined;
  let asking: Promise<void> | undefined;
  let askedAt = -Infinity;
  let failing: { readonly since: number; readonly why: string } | undefined;

  const ask = async (): Promise<void> => {
    askedAt = now();
    const since = askedAt;
    // A question that is not answered yet is not asked again.
    asked ??= isStandby().finally(() => (asked = undefined));
    try {
      const standby = await answerWithin(asked, maxAnswerMs);
      failing = standby
        ? { since: failing?.since ?? since, why: 'The database is a standby and cannot be written' }
        : undefined;
    } catch {
      failing = { since: failing?.since ?? since, why: 'The database does not answer' };
    }
  };

  return async () => {
    if (!asking && now() - askedAt >= everyMs) asking = ask().finally(() => (asking = undefined));
    await asking;
    if (failing && now() - failing.since >= graceMs) throw new NotReady(failing.why);
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
