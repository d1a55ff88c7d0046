import { isFinal } from '@millrace/contract';
import { untilWoken, type Feed, type News } from './feed.ts';
import type { Followed } from './follow.ts';
import type { ShownRun } from './shown-run.ts';

/**
 * One run. The place is the digest of what was shown last, so any process knows whether there is something newer, and however
 * many changes a subscriber missed it gets the last one. With `endsWithRun` nothing is waited for once the run is over.
 */
export function runFeed(followed: Followed, env: number, id: string, { endsWithRun = false } = {}): Feed {
  return {
    async next(place, signal): Promise<News> {
      const { woken, wake } = untilWoken(signal);
      let shown: ShownRun | null | undefined;
      const stop = followed.follow(env, id, (run) => {
        shown = run;
        if (run === null || run.digest !== place || (endsWithRun && isFinal(run.status))) wake();
      });
      await woken;
      stop();
      if (shown === null) return { runs: [], place, over: true };
      if (shown === undefined) return { runs: [], place, over: false };
      const runs = shown.digest === place ? [] : [shown];
      return { runs, place: shown.digest, over: isFinal(shown.status) };
    },
  };
}
