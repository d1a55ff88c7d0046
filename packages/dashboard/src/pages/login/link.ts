let taken: string | undefined;
let isTaken = false;

/** The token of a one-time link, from the fragment of the address, which is removed. Read once, at the start. */
export function takeLink(): string | undefined {
  if (isTaken) return taken;
  isTaken = true;
  const match = /^#link=([\w-]+)$/.exec(location.hash);
  if (!match) return undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  taken = match[1];
  return taken;
}
