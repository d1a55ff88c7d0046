/**
 * Names that become label values. The first names get separate series, and the rest share `other`. A metric thus has a limited number of
 * series, and the meaning of a series never changes during the life of the process.
 */
export class BoundedNames {
  readonly #known = new Set<string>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  label(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= this.#max) return 'other';
    this.#known.add(name);
    return name;
  }
}
