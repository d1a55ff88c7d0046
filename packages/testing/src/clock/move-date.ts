/**
 * Shifts `Date` in this process with the clock of the engine, so that code computes dates from the shifted time. Timers are not affected.
 * Returns a function that restores the original `Date`.
 */
export function moveDate(shiftMs: () => number): () => void {
  const Real = globalThis.Date;
  const now = (): number => Real.now() + shiftMs();
  const Moved = new Proxy(Real, {
    construct: (target, args: unknown[], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    apply: () => new Real(now()).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? now : (Reflect.get(target, name, receiver) as unknown),
  });
  globalThis.Date = Moved;
  return () => {
    // A test runner's fake timers may have replaced it in the meantime; they restore the `Date` that they found.
    if (globalThis.Date === Moved) globalThis.Date = Real;
  };
}
