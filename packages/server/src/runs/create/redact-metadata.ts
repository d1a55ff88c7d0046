import type { Redactor } from '../../envvars/redact/redactor.ts';
import type { NewRun } from './row.ts';

/** Returns the redactor for the secrets of an environment. */
export type FindRedactor = (env: number) => Redactor | Promise<Redactor>;

/** Removes the secrets of its environment from a run's trigger data. */
export function redactMetadata(findRedactor: FindRedactor, run: NewRun): NewRun | Promise<NewRun> {
  const { metadata } = run;
  if (metadata === null) return run;
  const redacted = (redactor: Redactor): NewRun => ({ ...run, metadata: redactor.json(metadata) });
  const redactor = findRedactor(run.env);
  return redactor instanceof Promise ? redactor.then(redacted) : redacted(redactor);
}
