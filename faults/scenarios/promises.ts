import type { Result } from './run.ts';
import type { Scenario } from './scenario.ts';

/** The longest time from an answer of the database to an answer of the service, in seconds. */
const maxRecovery = 10;

/** The promises that a result breaks, as sentences. */
export function brokenPromises(result: Result, { isFailover }: Pick<Scenario, 'isFailover'>): string[] {
  const broken = result.violations.map(({ promise, detail }) => `${promise}: ${detail}`);
  if (result.lostByDatabase > 0)
    broken.unshift(`the database lost ${result.lostByDatabase} acknowledged writes of the suite itself`);
  if (result.falseRescues > 0)
    broken.push(`${result.falseRescues} runs were taken from runners that were alive`);
  if ((result.recovery ?? 0) > maxRecovery)
    broken.push(`the service answered ${result.recovery} s after the database, not within ${maxRecovery} s`);
  if (isFailover && result.failedCalls > 0) broken.push(`${result.failedCalls} calls of clients failed`);
  return broken;
}
