import type { Actor } from '../audit/record.ts';
import type { Environment } from '../auth/principal.ts';
import { notFound } from '../problem.ts';
import { changeVariables, type ChangeDependencies } from './change.ts';
import { invalid, isUnnamed, nothingValid, whyNot, type Setting } from './rules.ts';

export interface Caller {
  readonly environment: Environment;
  readonly by: Actor;
  /** May change restricted names. */
  readonly isAdmin: boolean;
}

/** Creates or updates a variable. Without `isSecret` an existing one keeps its setting. */
export async function createVariable(
  dependencies: ChangeDependencies,
  caller: Caller,
  { name, value, isSecret }: Setting & { readonly isSecret?: boolean | undefined },
): Promise<void> {
  if (isUnnamed({ name })) throw nothingValid();
  refuseUnfit({ name, value });
  await changeVariables(dependencies, { ...caller, act: 'set', names: [name] }, (own) => [
    { name, value, isSecret: isSecret ?? own.get(name)?.isSecret ?? false },
  ]);
}

/** Sets a variable that exists in any environment of the project. */
export async function updateVariable(
  dependencies: ChangeDependencies,
  caller: Caller,
  { name, value }: Setting,
): Promise<void> {
  const { projectId } = caller.environment;
  const [known] = await dependencies.sql`
    select from variables v join environments e on e.id = v.env
     where e.project_id = ${projectId} and e.archived_at is null and v.name = ${name} limit 1`;
  if (!known) throw notFound('Environment variable not found');
  refuseUnfit({ name, value });
  await changeVariables(dependencies, { ...caller, act: 'set', names: [name] }, (own) => [
    { name, value, isSecret: own.get(name)?.isSecret ?? false },
  ]);
}

function refuseUnfit(setting: Setting): void {
  const error = whyNot(setting);
  if (error) throw invalid(`You must set at least one valid variable. ${error.key}: ${error.error}`, [error]);
}
