/**
 * Runs all checks of a change, step by step, and prints the time of each: `npm test`.
 *
 * `--budget` fails when the steps took more CPU time than allowed, which depends less on the load of the machine than wall-clock time.
 * `--long` repeats shorter tests by other means as well: property tests in full, every version of a matrix. `--second-try` repeats a failed
 * test once and names it if it then passes.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

interface Step {
  readonly name: string;
  readonly command: string;
  /** Maximum CPU time in seconds, including child processes. */
  readonly budget?: number;
  /** A failure does not end the check, so that one run shows the failures of both layers of tests. */
  readonly goesOn?: true;
  /** Additional environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

const { values: options } = parseArgs({
  options: { budget: { type: 'boolean' }, long: { type: 'boolean' }, 'second-try': { type: 'boolean' } },
});
const env = { ...process.env, ...(options.long && { MILLRACE_TEST_LONG: '1' }) };
const secondTry = options['second-try']
  ? ' --retry 1 --reporter default --reporter ./build/second-try.ts'
  : '';

/** The compiler and the linter are Go programs. Collecting garbage less often takes a quarter less processor time, and more memory. */
const variables = { GOGC: '400', GOMEMLIMIT: '3GiB' };

const steps: readonly Step[] = [
  { name: 'install', command: 'npm run test:install --silent' },
  { name: 'build', command: 'npm run build --silent', variables },
  { name: 'types', command: 'npm run types --silent', variables },
  { name: 'lint', command: 'npm run lint --silent', variables },
  { name: 'format', command: 'npm run format:check --silent' },
  { name: 'unused', command: 'npm run unused --silent' },
  { name: 'unit', command: `vitest run --project unit${secondTry}`, budget: 900, goesOn: true },
  { name: 'system', command: `vitest run --project system${secondTry}`, goesOn: true },
];
/** This and the budget of a step are about twice the time on a quiet machine: a slow hour of a shared one takes 1.5 times as long. */
const wholeBudget = 6_000;

/** CPU seconds of the child processes that have been waited for, and their children; only available on Linux. */
function usedByChildren(): number {
  if (process.platform !== 'linux') return NaN;
  const ticksPerSecond = 100;
  // The second field, a name in parentheses, may contain spaces. `cutime` and `cstime` are the 16th and 17th.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}

const took: { name: string; wall: number; used: number }[] = [];
const problems: string[] = [];
for (const { name, command, budget = Infinity, goesOn, variables: added } of steps) {
  process.stdout.write(`\n> ${name}: ${command}\n`);
  const startedAt = performance.now();
  const usedBefore = usedByChildren();
  const [code] = (await once(
    spawn(command, { shell: true, stdio: 'inherit', env: { ...env, ...added } }),
    'exit',
  )) as [number | null];
  const used = usedByChildren() - usedBefore;
  took.push({ name, wall: (performance.now() - startedAt) / 1_000, used });
  if (code !== 0) problems.push(`${name} failed.`);
  if (code !== 0 && !goesOn) break;
  if (used > budget) overBudget(name, used, budget);
}
const sum = { name: 'all', wall: total('wall'), used: total('used') };
if (sum.used > wholeBudget) overBudget('all', sum.used, wholeBudget);

process.stdout.write(`\n${'step'.padEnd(10)}${'time'.padStart(8)}${'processor time'.padStart(18)}\n`);
for (const { name, wall, used } of [...took, sum])
  process.stdout.write(`${name.padEnd(10)}${seconds(wall).padStart(8)}${seconds(used).padStart(18)}\n`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length > 0 ? 1 : 0;

function total(what: 'wall' | 'used'): number {
  return took.reduce((all, step) => all + step[what], 0);
}

function overBudget(name: string, used: number, budget: number): void {
  if (options.budget)
    problems.push(`${name} took ${seconds(used)} of processor time. Its budget is ${seconds(budget)}.`);
}

function seconds(value: number): string {
  return Number.isNaN(value) ? '–' : `${Math.round(value)} s`;
}
