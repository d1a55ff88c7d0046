import { hooksOf, type HookCalls } from './call.ts';

/** The attempt wrapped in its middleware: the first one registered is the outermost, the task's own the innermost. */
export async function throughMiddleware(calls: HookCalls, inner: () => Promise<void>): Promise<void> {
  let went = inner;
  for (const middleware of hooksOf(calls, 'middleware').toReversed()) {
    const next = went;
    went = async () => {
      let called: Promise<void> | undefined;
      await middleware({
        ...calls.args,
        next: () => {
          if (called) throw new Error('A middleware called next() twice: an attempt runs once.');
          called = next();
          // A failure that is not awaited is reported below.
          called.catch(() => undefined);
          return called;
        },
      });
      if (!called) throw new Error('A middleware ended without calling next(): the task did not run.');
      await called;
    };
  }
  await went();
}
