import { closestMatch } from 'leven';

/** More tasks than these are not looked through: an answer to a person must not hold up the others. */
const maxTasks = 2_000;

/** Of a version's tasks the one whose id was likely meant, if any is near enough to be a slip of the fingers. */
export function nearestTask(task: string, known: Iterable<string>): string | undefined {
  const candidates = [...known].slice(0, maxTasks);
  return closestMatch(task, candidates, { maxDistance: Math.max(1, Math.floor(task.length * 0.4)) });
}
