export interface Resolvers<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: Error) => void;
}

/** Node 20 has no `Promise.withResolvers`. */
export function withResolvers<T>(): Resolvers<T> {
  let functions!: Pick<Resolvers<T>, 'resolve' | 'reject'>;
  const promise = new Promise<T>((resolve, reject) => {
    functions = { resolve, reject };
  });
  return { promise, ...functions };
}
