import type { Clock } from '../db/clock.ts';
import type { Pause } from '../operations/pause/pause.ts';
import type { ConnectedRunner, ConnectedRunners } from '../runners/runners.ts';
import type { Dispatch } from '../runs/dispatch/dispatch.ts';
import type { Engine } from '../runs/engine/engine.ts';
import { notifyMissed, type Resume } from '../runs/waits/resume.ts';

export interface WakeDependencies {
  readonly engine: Pick<Engine, 'sql' | 'log' | 'wakes' | 'versions'>;
  readonly runners: ConnectedRunners;
  readonly dispatch: Pick<Dispatch, 'versionsChanged' | 'expect'>;
  readonly clock: Pick<Clock, 'now'>;
  /** A user changed the requested state of a runner that is connected to this process. */
  readonly requestsChanged: (runner: ConnectedRunner) => Promise<void>;
  /** Notifies the runners connected to this process of an environment's branches. */
  readonly notifyBranches: (env: number) => void;
  /** A credential, its user or its environment is no longer valid. */
  readonly accessEnded: () => void;
  /** A transaction that triggered a run has committed. */
  readonly outboxFilled: () => void;
}

/** Handles wake-ups from other processes that no single module handles. */
export function listenToWakes({
  engine,
  runners,
  dispatch,
  clock,
  requestsChanged,
  notifyBranches,
  accessEnded,
  outboxFilled,
}: WakeDependencies): void {
  const { sql, log, wakes, versions } = engine;
  wakes.listen((wake) => {
    if (wake.kind === 'access') accessEnded();
    if (wake.kind === 'outbox') outboxFilled();
    if (wake.kind === 'promotion') dispatch.expect(clock.now() + wake.inMs);
    if (wake.kind === 'branches') notifyBranches(wake.env);
    if (wake.kind === 'versions') {
      versions.forget(wake.env);
      if (wake.requested !== undefined) versions.want(wake.env, wake.requested);
      dispatch.versionsChanged(wake.env);
    }
    if (wake.kind === 'runner') {
      const runner = runners.get(wake.runner);
      // If this fails, the runner's next heartbeat does the same.
      if (runner) requestsChanged(runner).catch(() => log.warn('database.lost', { at: 'runner' }));
    }
    if (wake.kind === 'resumed') {
      const runner = runners.get(wake.runner);
      // If this fails, the runner's next heartbeat does the same.
      if (runner) notifyMissed(sql, runner).catch(() => log.warn('database.lost', { at: 'resume' }));
    }
    if (wake.kind === 'cancel') runners.get(wake.runner)?.send({ type: 'cancel', fences: wake.fences });
  });
}

export interface PauseDependencies {
  readonly pause: Pick<Pause, 'since' | 'onChange'>;
  readonly runners: ConnectedRunners;
  readonly dispatch: Pick<Dispatch, 'wake'>;
  readonly resume: Resume;
}

/** Restarts dispatch when a pause ends. */
export function listenToPause({ pause, runners, dispatch, resume }: PauseDependencies): void {
  pause.onChange(() => {
    if (pause.since !== null) return;
    for (const env of runners.environments()) {
      dispatch.wake(env);
      resume(env);
    }
  });
}
