/** The suite inside its own namespaces: `node suite.ts <folder> <options>`. Started by main.ts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { optionsOf } from './options.ts';
import { brokenPromises } from './scenarios/promises.ts';
import { resultTable } from './scenarios/result-table.ts';
import { runScenario, type Result } from './scenarios/run.ts';
import { scenarioNames, scenarios, shortScenarios } from './scenarios/table.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { startSystem } from './system/system.ts';

const [folder = '', ...args] = process.argv.slice(2);
const options = optionsOf(args, scenarioNames);
const startedAt = performance.now();
const progress = (text: string): void =>
  console.error(`[${String(Math.round((performance.now() - startedAt) / 1_000)).padStart(5)} s] ${text}`);

for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    progress('Interrupted.');
    // All other processes end with the namespace.
    process.exit(130);
  });

/** Problems of a scenario on the terminal. */
const maxShown = 20;
const requested: readonly string[] = options.only ?? (options.short ? shortScenarios : scenarioNames);
const chosen = scenarioNames.filter((name) => requested.includes(name));
progress(`Seed ${options.seed}. Logs and histories: ${folder}`);
const system = await startSystem(folder, progress);
// The short form fits into five minutes. Faults still last longer than a lease.
const durations = { secondsAfter: options.seconds, maxSeconds: options.short ? 40 : Infinity };
const results: Result[] = [];
const broken: string[] = [];
for (const [index, name] of chosen.entries()) {
  const scenario = scenarios[name] as Scenario;
  const reason = scenario.unavailable?.();
  if (reason !== undefined) {
    progress(`${name}: skipped, because ${reason}.`);
    continue;
  }
  const problems: string[] = [];
  try {
    const result = await runScenario(system, name, scenario, options.seed + index, durations, progress);
    results.push(result);
    problems.push(...brokenPromises(result, scenario));
    progress(`${name}: longest outage ${result.maxOutage} s, ${result.failedCalls} failed calls.`);
  } catch (error) {
    problems.push(`could not be run: ${(error as Error).message}`);
  }
  for (const problem of problems.slice(0, maxShown)) progress(`${name}: BROKEN: ${problem}`);
  if (problems.length > maxShown) progress(`${name}: ${problems.length - maxShown} more, in results.json.`);
  broken.push(...problems);
}
await writeFile(join(folder, 'results.json'), JSON.stringify(results, undefined, 2));
process.stdout.write(
  options.json ? `${JSON.stringify({ seed: options.seed, results })}\n` : `${resultTable(results)}\n`,
);
process.exit(broken.length > 0 ? 1 : 0);
