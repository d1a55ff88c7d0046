import type { TaskManifest } from '@millrace/contract/runner';
import type { DeclaredCron } from './schedule.ts';

type Refuse = (field: string, rule: string, value: unknown) => never;

/**
 * A declared cron in the manifest. Only its form is checked here; the server checks the expression when the version is registered.
 */
export function declaredSchedule(refuse: Refuse, cron: DeclaredCron | undefined): TaskManifest['schedule'] {
  if (cron === undefined) return undefined;
  if (typeof cron !== 'object' || cron === null) {
    refuse('cron', 'must be a cron expression or an object with a pattern', cron);
  }
  const { pattern, timezone = 'UTC', environments, window, missed, overlap } = cron;
  const texts = { 'cron.pattern': pattern, 'cron.timezone': timezone };
  for (const [field, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || text.trim() === '') refuse(field, 'must be a non-empty string', text);
  }
  if (environments !== undefined && !isListOfTexts(environments)) {
    refuse('cron.environments', "must be an array such as ['PRODUCTION']", environments);
  }
  const more = { 'cron.window': window, 'cron.missed': missed, 'cron.overlap': overlap };
  for (const [field, text] of Object.entries(more)) {
    if (text !== undefined && typeof text !== 'string') refuse(field, 'must be a string', text);
  }
  return {
    cron: pattern,
    timezone,
    environments: environments === undefined ? undefined : [...environments],
    window,
    missed,
    overlap,
  };
}

const isListOfTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
