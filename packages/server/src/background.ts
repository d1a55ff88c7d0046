/**
 * Calls `act` every `everyMs` milliseconds until the returned function is called. Skips a call while the previous one is running, so that
 * calls do not pile up while the database is slow. Does not keep the process alive.
 *
 * For work shared by all processes, or whose failures the doctor must report, use a job instead (`jobs/job.ts`).
 *
 * @param onError handles the error of a call. Default: none, so the error is uncaught, as in any timer
 */
export function background(
  everyMs: number,
  act: () => unknown,
  onError?: (error: unknown) => void,
): () => void {
  let isUnderWay = false;
  const timer = setInterval(async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    try {
      await act();
    } catch (error) {
      if (!onError) throw error;
      onError(error);
    } finally {
      isUnderWay = false;
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
