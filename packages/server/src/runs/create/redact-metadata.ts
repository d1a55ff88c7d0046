import type { Redactor } from '../../envvars/redact/redactor.ts';
import type { NewRun } from './row.ts';

/** Finds out how to cut the secrets of an environment out of texts. */
export type FindRedactor = (env: number) => Redactor | Promise<Redactor>;

/** Cuts the secrets of its environment out of what a run is triggered with. */
export function redactMetadata(findRedactor: FindRedactor, run: NewRun): NewRun | Promise<NewRun> {
  const { metadata } = run;
  if (metadata === null) return run;
  const redacted = (redactor: Redactor): NewRun => ({ ...run, metadata: redactor.json(metadata) });
  const redactor = findRedactor(run.env);
  return redactor instanceof Promise ? redactor.then(redacted) : redacted(redactor);
}
