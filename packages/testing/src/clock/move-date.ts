/**
 * Moves `Date` of this process with the clock of the engine: code that computes a date from now computes it from the moved time. Timers
 * are left alone. Returns what puts the former `Date` back.
 */
export function moveDate(shiftMs: () => number): () => void {
  const Real = globalThis.Date;
  const now = (): number => Real.now() + shiftMs();
  const Moved = new Proxy(Real, {
    construct: (target, given: unknown[], newTarget) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget) as object,
    apply: () => new Real(now()).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown),
  });
  globalThis.Date = Moved;
  return () => {
    // Fake timers of a test runner may have replaced it meanwhile: they put back what they found.
    if (globalThis.Date === Moved) globalThis.Date = Real;
  };
}
