import type { Sql } from '../../db/connect.ts';

interface Count {
  readonly env: number;
  readonly delivery: string;
  readonly n: number;
}

/** Maximum number of deliveries whose repeated requests are counted between two writes. */
const maxCounted = 10_000;

/** Counts repeated requests in memory: answering one writes nothing. */
export class Repetitions {
  #counts = new Map<string, Count>();

  add(env: number, delivery: string): void {
    const key = `${env} ${delivery}`;
    const n = this.#counts.get(key)?.n ?? 0;
    if (n > 0 || this.#counts.size < maxCounted) this.#counts.set(key, { env, delivery, n: n + 1 });
  }

  /** Adds the counts to the rows of their deliveries. */
  async write(sql: Sql): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts = new Map();
    await sql`
      update webhook_deliveries d set repeated = d.repeated + i.n
        from unnest(${counts.map(({ env }) => env)}::int[], ${counts.map(({ delivery }) => delivery)}::text[],
                    ${counts.map(({ n }) => n)}::int[]) as i (env, id, n)
       where d.env = i.env and d.id = i.id`;
  }
}

/** The job that writes the counts of repeated requests. */
export const repetitionWriter = (sql: Sql, repetitions: Repetitions) => ({
  name: 'webhook repetition writer',
  everyMs: 5_000,
  async tick(): Promise<boolean> {
    await repetitions.write(sql);
    return false;
  },
  stop: () => repetitions.write(sql),
});
