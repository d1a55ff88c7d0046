import type { NewRun } from '../create/row.ts';

const spanLength = 10;
const maxKnown = 10_000;

/**
 * The facets of everyday runs that this process knows to be recorded (`run_facets`). The fast path records none: the first run of a kind in an
 * id span takes the general path, which records them.
 */
export class KnownFacets {
  readonly #known = new Set<string>();

  has(run: NewRun): boolean {
    return this.#known.has(kindOf(run));
  }

  /** Records that the general path has inserted and committed the run. */
  add(run: NewRun): void {
    if (this.#known.size >= maxKnown) this.#known.clear();
    this.#known.add(kindOf(run));
  }
}

const kindOf = ({ env, task, queueId, id }: NewRun): string =>
  `${env} ${id.slice(0, spanLength)} ${queueId} ${task}`;
