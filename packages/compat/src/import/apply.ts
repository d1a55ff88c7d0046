import type * as Sdk from '@millrace/sdk';
import type { ScheduleStep } from './plan-schedules.ts';
import type { VariableStep } from './plan-variables.ts';

export type Step = VariableStep | ScheduleStep;

/** The API of the target environment. */
export type Target = Pick<typeof Sdk, 'envvars' | 'schedules'>;

/** The errors of failed steps. */
export type Failures = Map<Step, string>;

/**
 * Writes variables, each kind in one request that is all or nothing and creates one revision of the history. Variables that the server
 * rejects by name are skipped and reported; the rest are written.
 */
export async function applyVariables(
  { envvars }: Target,
  steps: readonly VariableStep[],
  failures: Failures,
): Promise<void> {
  for (const action of ['set', 'replace'] as const)
    for (const isSecret of [true, false]) {
      let group = steps.filter((step) => step.action === action && step.isSecret === isSecret);
      while (group.length > 0) {
        const variables = Object.fromEntries(group.map(({ name, value = '' }) => [name, value]));
        // Without override, values set in the meantime are kept.
        const refused = await envvars.upload({ variables, override: action === 'replace', isSecret }).then(
          () => new Map<string, string>(),
          (error: unknown) => refusedNames(error, variables),
        );
        for (const step of group) {
          const why = refused.get(step.name);
          if (why !== undefined) failures.set(step, why);
        }
        if (refused.size === 0) break;
        group = group.filter(({ name }) => !refused.has(name));
      }
    }
}

/** The variables that an import rejected, with the reasons. Rethrows other errors. */
function refusedNames(error: unknown, variables: object): Map<string, string> {
  const body = (error as { body?: { variableErrors?: unknown } } | undefined)?.body;
  const errors = Array.isArray(body?.variableErrors) ? (body.variableErrors as unknown[]) : [];
  const named = errors.filter(
    (item): item is { key: string; error: string } =>
      typeof item === 'object' &&
      item !== null &&
      'key' in item &&
      'error' in item &&
      Object.hasOwn(variables, String(item.key)),
  );
  if (named.length === 0) throw error;
  return new Map(named.map((item) => [String(item.key), String(item.error)]));
}

/** Creates and replaces schedules, each by its key, so that repeating it creates no duplicates. */
export async function applySchedules(
  { schedules }: Target,
  steps: readonly ScheduleStep[],
  { inactive, failures, onDone }: { inactive: boolean; failures: Failures; onDone: () => void },
): Promise<void> {
  for (const step of steps) {
    if (step.action !== 'create' && step.action !== 'replace') continue;
    const { task, cron, timezone, window, externalId, active } = step.schedule;
    try {
      await schedules.create({
        task,
        cron,
        timezone,
        ...(window !== undefined && { window }),
        ...(externalId !== undefined && { externalId }),
        deduplicationKey: step.name,
        // An existing schedule keeps its active state.
        ...(step.action === 'create' && { active: active && !inactive }),
      });
    } catch (error) {
      // An invalid schedule does not stop the others.
      const { status, message } = error as { status?: unknown; message: string };
      if (status !== 400 && status !== 422) throw error;
      failures.set(step, message);
    }
    onDone();
  }
}
