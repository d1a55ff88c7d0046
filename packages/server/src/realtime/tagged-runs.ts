import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { facet } from '../runs/facets/facet.ts';
import { idAt } from '../runs/list/position.ts';

export interface FoundRun {
  readonly id: string;
  readonly tags: readonly string[];
}

/**
 * How far back successive scans read. The time in an id precedes its commit and, for batches, the upload, so a few scans go further back.
 */
const overlapsMs = [10_000, 10_000, 10_000, 10_000, 120_000];
const maxFound = 5_000;
const minRestMs = 100;
/** After a scan, the next one waits for at least this multiple of its duration. */
const restFactor = 10;

/**
 * Finds new runs of an environment by tag, with one statement for all its subscriptions. Calls during a scan cause one additional scan.
 */
export class TaggedRuns {
  readonly #sources: { readonly sql: Sql; readonly clock: Clock };
  readonly #env: number;
  /** One tag of each subscription. */
  readonly #tags: () => readonly string[];
  readonly #found: (run: FoundRun) => void;
  #scans = 0;
  #isScanning = false;
  #again = false;

  constructor(
    sources: { readonly sql: Sql; readonly clock: Clock },
    env: number,
    tags: () => readonly string[],
    found: (run: FoundRun) => void,
  ) {
    this.#sources = sources;
    this.#env = env;
    this.#tags = tags;
    this.#found = found;
  }

  scan(): void {
    if (this.#isScanning) this.#again = true;
    else void this.#scanOn();
  }

  async #scanOn(): Promise<void> {
    this.#isScanning = true;
    do {
      this.#again = false;
      const began = performance.now();
      // After a failure, the next poll tries again.
      await this.#read().catch(() => {});
      await sleep(Math.max(minRestMs, (performance.now() - began) * restFactor), undefined, { ref: false });
    } while (this.#again && this.#tags().length > 0);
    this.#isScanning = false;
  }

  async #read(): Promise<void> {
    const { sql, clock } = this.#sources;
    const facets = this.#tags().map((tag) => facet('tag', tag));
    if (facets.length === 0) return;
    for (let low = idAt(clock.now() - (overlapsMs[this.#scans++ % overlapsMs.length] ?? 0)); ;) {
      const runs = await sql<FoundRun[]>`
        select distinct r.id, r.tags
          from run_facets x
          cross join lateral (
            select r.id, r.tags from runs r
             where r.env = x.env and r.id >= x.span and r.id < x.span || '~' and r.id > ${low}
               and r.tags @> array[substr(x.facet, 3)]
             order by r.id limit ${maxFound}) r
         where x.env = ${this.#env} and x.facet = any(${facets}::text[]) and x.span >= ${low.slice(0, 10)}
         order by r.id limit ${maxFound}`;
      for (const run of runs) this.#found(run);
      if (runs.length < maxFound) return;
      low = runs.at(-1)?.id ?? '';
    }
  }
}
