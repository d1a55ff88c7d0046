const underWay = new WeakMap<() => Promise<string>, Promise<string>>();

/** Calls the function, unless a call of it is in progress: hooks of one page learn at the same time that their token has expired. */
export function refreshOnce(refresh: () => Promise<string>): Promise<string> {
  const current = underWay.get(refresh);
  if (current) return current;
  const started = refresh().finally(() => underWay.delete(refresh));
  underWay.set(refresh, started);
  return started;
}
