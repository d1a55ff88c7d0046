/**
 * Calls `act` again and again until the returned function is called, first after `everyMs`. Never while the last call is under way, so that
 * calls do not pile up on a slow database, and never so that the process stays for it.
 *
 * What is to be done once in an installation, or must be seen when it fails, is a job (`jobs/job.ts`).
 *
 * @param onError of a call that rejects; the next one comes all the same
 */
export function background(
  everyMs: number,
  act: () => unknown,
  onError: (error: unknown) => void = () => {},
): () => void {
  let isUnderWay = false;
  const timer = setInterval(async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      await act();
    } catch (error) {
      onError(error);
    } finally {
      isUnderWay = false;
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
