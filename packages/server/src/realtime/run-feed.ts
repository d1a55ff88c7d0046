import { isFinal } from '@millrace/contract';
import { untilWoken, type Feed, type Update } from './feed.ts';
import type { Followed } from './follow.ts';
import type { RunSnapshot } from './run-snapshot.ts';

/**
 * The changes of one run. The cursor is the digest of the last returned state of the run. Any process can compare it, and a subscriber that
 * missed several changes receives the last one. With `endsWithRun`, changes after the end of the run are not awaited.
 */
export function runFeed(followed: Followed, env: number, id: string, { endsWithRun = false } = {}): Feed {
  return {
    async next(cursor, signal): Promise<Update> {
      const { woken, wake } = untilWoken(signal);
      let latest: RunSnapshot | null | undefined;
      const stop = followed.follow(env, id, (run) => {
        latest = run;
        if (run === null || run.digest !== cursor || (endsWithRun && isFinal(run.status))) wake();
      });
      await woken;
      stop();
      if (latest === null) return { runs: [], cursor, ended: true };
      if (latest === undefined) return { runs: [], cursor, ended: false };
      const runs = latest.digest === cursor ? [] : [latest];
      return { runs, cursor: latest.digest, ended: isFinal(latest.status) };
    },
  };
}
