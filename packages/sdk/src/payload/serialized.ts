/**
 * A value as the HTTP API returns it, in plain JSON: dates are ISO 8601 strings, and `undefined` is dropped. Values without a plain form (maps,
 * sets, bigints, binary data) are `unknown`.
 */
export type Serialized<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends Date
      ? string
      : T extends URL
        ? string
        : T extends undefined | void
          ? undefined
          : T extends
                | bigint
                | symbol
                | ReadonlyMap<unknown, unknown>
                | ReadonlySet<unknown>
                | ArrayBufferView
                | RegExp
                | Error
            ? unknown
            : T extends (...args: never) => unknown
              ? never
              : T extends object
                ? { [K in keyof T]: Serialized<T[K]> }
                : never;
