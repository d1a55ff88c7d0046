import { Sql as Template } from 'sql-template-tag';

/** The rows of a result, and how many rows the statement returned or changed. */
export type Rows<T extends readonly object[]> = T & { readonly count: number };

export type Run = (text: string, values: unknown[]) => Promise<Rows<object[]>>;

/**
 * A statement with its parameters. Awaiting it sends it. Used as a value in another statement, it becomes part of that statement and is not
 * sent.
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

  finally(onFinally?: (() => void) | null): Promise<Rows<T>> {
    return this.#send().finally(onFinally);
  }

  #send(): Promise<Rows<T>> {
    this.#sent ??= this.#run(this.text, this.values) as unknown as Promise<Rows<T>>;
    return this.#sent;
  }
}

const maxNames = 1_000;
const names = new Map<string, string>();

/**
 * The name under which connections prepare a statement, so that each connection parses it once. Values are parameters, so there are few
 * distinct texts; after the first thousand, new ones are sent unprepared. Names are never evicted, because connections keep the statements
 * prepared under them.
 */
export function statementName(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= maxNames) return known;
  const name = `m${names.size}`;
  names.set(text, name);
  return name;
}
