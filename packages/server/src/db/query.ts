import { Sql as Template } from 'sql-template-tag';

/** Rows of an answer, and how many rows the statement touched. */
export type Rows<T extends readonly object[]> = T & { readonly count: number };

export type Run = (text: string, values: unknown[]) => Promise<Rows<object[]>>;

/**
 * One statement with its parameters. Awaiting it sends it; put into another statement as a value it becomes a part of that one and
 * is not sent.
 */
export class Query<T extends readonly object[]> extends Template implements Promise<Rows<T>> {
  readonly [Symbol.toStringTag] = 'Query';
  readonly #run: Run;
  #sent: Promise<Rows<T>> | undefined;

  constructor(run: Run, strings: readonly string[], values: readonly unknown[]) {
    super(strings, values);
    this.#run = run;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a query is awaited like the drivers' own
  then<A = Rows<T>, B = never>(
    fulfilled?: ((rows: Rows<T>) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#send().then(fulfilled, rejected);
  }

  catch<B = never>(rejected: (reason: unknown) => B | PromiseLike<B>): Promise<Rows<T> | B> {
    return this.#send().catch(rejected);
  }

  finally(settled?: (() => void) | null): Promise<Rows<T>> {
    return this.#send().finally(settled);
  }

  #send(): Promise<Rows<T>> {
    this.#sent ??= this.#run(this.text, this.values) as unknown as Promise<Rows<T>>;
    return this.#sent;
  }
}

const maxNames = 1_000;
const names = new Map<string, string>();

/**
 * A name under which a connection keeps the statement prepared: parsed and planned once. Texts are few, since values are
 * parameters; what comes after the first thousand is sent unprepared.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= maxNames) return known;
  const name = `m${names.size}`;
  names.set(text, name);
  return name;
}
