import type { ErrorCode } from '@millrace/contract/plain';
import type { Sql } from '../../db/connect.ts';
import { deleteByEnvironment } from '../../db/delete-by-environment.ts';

interface Count {
  readonly env: number;
  readonly webhook: string;
  readonly code: ErrorCode;
  readonly hour: Date;
  readonly rejected: number;
  readonly at: Date;
}

const hourMs = 3_600_000;
const retainedMs = 48 * hourMs;
const maxPruned = 1_000;

/** Counts rejected requests in memory, so that a flood of them writes at most one row for each webhook and reason in five seconds. */
export class Rejections {
  readonly #counts = new Map<string, Count>();

  add(env: number, webhook: string, code: ErrorCode, at: Date): void {
    const hour = new Date(Math.floor(at.getTime() / hourMs) * hourMs);
    const key = `${env} ${hour.getTime()} ${code} ${webhook}`;
    const rejected = (this.#counts.get(key)?.rejected ?? 0) + 1;
    this.#counts.set(key, { env, webhook, code, hour, rejected, at });
  }

  /** Adds the counts to the rows of their webhooks. */
  async write(sql: Sql): Promise<void> {
    const written = new Map(this.#counts);
    for (const [key, { env, webhook, code, hour, rejected, at }] of written) {
      await sql`
        with total as (
          update webhooks set rejected = rejected + ${rejected}, last_rejection = ${code}, last_rejected_at = ${at}
           where env = ${env} and id = ${webhook}
        )
        insert into webhook_rejections as x (env, webhook, hour, code, n, last_at)
        values (${env}, ${webhook}, ${hour}, ${code}, ${rejected}, ${at})
        on conflict (env, webhook, hour, code) do update set n = x.n + excluded.n, last_at = greatest(x.last_at, excluded.last_at)`;
      const count = this.#counts.get(key);
      // Further requests were rejected in the meantime.
      if (count && count.rejected > rejected)
        this.#counts.set(key, { ...count, rejected: count.rejected - rejected });
      else this.#counts.delete(key);
    }
  }
}

/** The job that writes the counts of rejected requests. */
export const rejectionWriter = (sql: Sql, rejections: Rejections) => ({
  name: 'webhook rejection writer',
  everyMs: 5_000,
  async tick(): Promise<boolean> {
    await rejections.write(sql);
    return false;
  },
  stop: () => rejections.write(sql),
});

/** The job that deletes the hourly counts of rejected requests after two days. */
export const rejectionPruner = (sql: Sql, clock: { now(): number }) => ({
  name: 'webhook rejection pruner',
  everyMs: hourMs,
  async tick(): Promise<boolean> {
    const before = new Date(clock.now() - retainedMs);
    return deleteByEnvironment(sql, {
      table: sql`webhook_rejections`,
      condition: sql`x.hour < ${before}`,
      orderBy: sql`x.webhook, x.hour`,
      limit: maxPruned,
    });
  },
});
