import type { ServedTask } from '../bundle/versions-file.ts';
import { machineOf } from './attempt.ts';
import type { Attempt } from './executor.ts';
import type { Purpose } from './executor.ts';

/** What attempts wait for: a kind of process, or a slot in the one that they are suspended in. */
type Line = Purpose | 'returning';

/** The line of an attempt that is in no process. */
export function lineOf(attempt: Attempt, task: ServedTask | undefined): Purpose {
  if (attempt.suspect) return 'suspect';
  return task && (task.isolated || machineOf(attempt, task) !== null) ? 'isolated' : 'shared';
}

/** The lines in which attempts wait for their turn. */
export class Lines {
  readonly #lines: Readonly<Record<Line, Attempt[]>> = {
    shared: [],
    isolated: [],
    suspect: [],
    returning: [],
  };

  join(line: Line, attempt: Attempt): void {
    this.#lines[line].push(attempt);
  }

  /** Before everything that has not begun. */
  joinFirst(line: Line, attempt: Attempt): void {
    this.#lines[line].unshift(attempt);
  }

  /** Takes it out, wherever it waits. */
  leave(attempt: Attempt): void {
    for (const line of Object.values(this.#lines)) {
      const at = line.indexOf(attempt);
      if (at !== -1) line.splice(at, 1);
    }
  }

  first(line: Line): Attempt | undefined {
    return this.#lines[line][0];
  }

  /** Takes out the first. */
  next(line: Line): Attempt | undefined {
    return this.#lines[line].shift();
  }

  /** Takes out the first ones, so many at most. */
  take(line: Line, most: number): Attempt[] {
    return this.#lines[line].splice(0, Math.max(0, most));
  }

  /** What has waited for so many milliseconds without any of its code having run. */
  untouched(milliseconds: number): Attempt[] {
    const now = performance.now();
    const isOld = ({ touched, receivedAt }: Attempt, least: number): boolean =>
      !touched && now - receivedAt >= least;
    return [
      ...this.#lines.shared.filter((attempt) => isOld(attempt, milliseconds)),
      // Where no other runner is, these come back at once, to wait again for memory: not every second.
      ...this.#lines.isolated.filter((attempt) => isOld(attempt, milliseconds * 10)),
    ];
  }

  /** Whether an attempt that could be given back has waited for so many milliseconds. */
  hasWaited(milliseconds: number): boolean {
    const first = this.#lines.shared.find(({ touched }) => !touched);
    return first !== undefined && performance.now() - first.receivedAt >= milliseconds;
  }
}
