import { closestMatch } from 'leven';

/** Maximum tasks to compare: a response for a person must not delay other requests. */
const maxTasks = 2_000;

/** The task of a version whose id was probably meant, if one is close enough to be a typing error. */
export function nearestTask(task: string, known: Iterable<string>): string | undefined {
  const candidates = [...known].slice(0, maxTasks);
  return closestMatch(task, candidates, { maxDistance: Math.max(1, Math.floor(task.length * 0.4)) });
}
