import type { ErrorCode } from '@millrace/contract/plain';
import type { Sql } from '../../db/connect.ts';

interface Count {
  readonly env: number;
  readonly webhook: string;
  readonly rejected: number;
  readonly code: ErrorCode;
  readonly at: Date;
}

/** Counts rejected requests in memory, so that a flood of them writes at most one row for each webhook in five seconds. */
export class Rejections {
  readonly #counts = new Map<string, Count>();

  add(env: number, webhook: string, code: ErrorCode, at: Date): void {
    const key = `${env} ${webhook}`;
    const rejected = (this.#counts.get(key)?.rejected ?? 0) + 1;
    this.#counts.set(key, { env, webhook, rejected, code, at });
  }

  /** Adds the counts to the rows of their webhooks. */
  async write(sql: Sql): Promise<void> {
    const written = new Map(this.#counts);
    for (const [key, { env, webhook, rejected, code, at }] of written) {
      await sql`
        update webhooks set rejected = rejected + ${rejected}, last_rejection = ${code}, last_rejected_at = ${at}
         where env = ${env} and id = ${webhook}`;
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
