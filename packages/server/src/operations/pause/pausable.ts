import type { Pause } from './pause.ts';

interface Stoppable {
  stop(): Promise<unknown>;
}

/** Runs all background work except during a pause. */
export function pausable(pause: Pause, start: () => Stoppable): Stoppable {
  let running: Stoppable | undefined;
  let stopped = false;
  let changing = Promise.resolve();

  const change = async (): Promise<void> => {
    const shouldRun = pause.since === null && !stopped;
    if (shouldRun) {
      running ??= start();
      return;
    }
    const ending = running;
    running = undefined;
    await ending?.stop();
  };
  const follow = (): Promise<void> => {
    changing = changing.then(change);
    return changing;
  };

  if (pause.since === null) running = start();
  pause.onChange(() => void follow());
  return {
    stop() {
      stopped = true;
      return follow();
    },
  };
}
