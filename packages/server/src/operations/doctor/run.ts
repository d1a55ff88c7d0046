import type { CheckResult } from '@millrace/contract';
import { Skipped, type Check } from './check.ts';

export const defaultCheckMs = 10_000;
/** After this many checks that did not end, the rest are not started, because their queries would not return either. */
const maxHanging = 2;

/** Runs the checks sequentially. A check that fails or times out is reported as a finding, and the others still run. */
export async function runChecks<Input>(
  checks: readonly Check<Input>[],
  input: Input,
  timeoutMs = defaultCheckMs,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  let hanging = 0;
  for (const check of checks) {
    if (hanging >= maxHanging) {
      const reason = 'earlier checks did not end';
      results.push({ name: check.name, state: 'skipped', findings: [], reason, tookMs: 0 });
      continue;
    }
    const begun = performance.now();
    const { hangs, ...result } = await runCheck(check, input, timeoutMs);
    if (hangs) hanging++;
    results.push({ name: check.name, ...result, tookMs: Math.ceil(performance.now() - begun) });
  }
  return results;
}

type Outcome = Omit<CheckResult, 'name' | 'tookMs'> & { readonly hangs?: true };

async function runCheck<Input>(check: Check<Input>, input: Input, timeoutMs: number): Promise<Outcome> {
  const { severity, why, fix } = check;
  try {
    const found = await withTimeout(check.find(input), timeoutMs);
    if (found.length === 0) return { state: 'ok', findings: [] };
    return { state: severity, findings: found.map((finding) => ({ why, fix, ...finding })) };
  } catch (error) {
    if (error instanceof Skipped) return { state: 'skipped', findings: [], reason: error.message };
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A PostgreSQL code: the role may not read it.
    if (code === '42501')
      return { state: 'skipped', findings: [], reason: `no permission to read it (${firstLine(error)})` };
    // A PostgreSQL code: the statement took too long.
    if (error instanceof Late || code === '57014')
      return {
        state: severity,
        findings: [
          {
            what: `The check did not end within ${timeoutMs / 1_000} s.`,
            why: 'The system under check does not respond in time: it hangs or is overloaded.',
            fix: 'Run the command again with a longer `--timeout`. If it still does not end, check the load of that system.',
          },
        ],
        ...(error instanceof Late && { hangs: true }),
      };
    return {
      state: 'warning',
      findings: [
        {
          what: `The check failed: ${firstLine(error)}`,
          why: 'The check was inconclusive: the problem may exist.',
          fix: 'Run the command again. If it fails again, report this message.',
        },
      ],
    };
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';

class Late extends Error {}

async function withTimeout<R>(work: Promise<R>, timeoutMs: number): Promise<R> {
  work.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late()), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
