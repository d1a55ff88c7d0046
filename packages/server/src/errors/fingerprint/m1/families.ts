export { familyOf } from '../families.ts';

/**
 * Errors of which the message and the task say enough, where functions of the app are on the stack with one version of a driver and not with
 * another. A statement that failed without a name in its answer ("value too long") is told by its place, and so is a refused connection.
 */
export function isPlaceless(family: string | undefined, message: string): boolean {
  return family === 'aborted' || family === 'command' || (family === 'statement' && /'|<text>/.test(message));
}
