import { closestMatch } from 'leven';

/** Maximum tasks to compare, because a response for a person must not delay other requests. */
const maxTasks = 2_000;

/** The task of a version that was probably meant, if an id is close enough for a typo. */
export function nearestTask(task: string, known: Iterable<string>): string | undefined {
  const candidates = [...known].slice(0, maxTasks);
  return closestMatch(task, candidates, { maxDistance: Math.max(1, Math.floor(task.length * 0.4)) });
}
