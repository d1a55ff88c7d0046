import { environmentTypes, isReservedVariable, type Body, type Operations } from '@millrace/contract';
import type { Environment } from '../auth/principal.ts';
import { Problem } from '../problem.ts';
import { changeVariables, type ChangeDependencies } from './change.ts';
import { parseDotenv } from './dotenv.ts';
import {
  invalid,
  isUnnamed,
  nothingValid,
  refuseRestricted,
  whyNot,
  type Setting,
  type VariableError,
} from './rules.ts';
import type { Caller } from './set.ts';

type Import = Body<Operations['importVariables']>;

/**
 * Sets many variables, all or none. Unnamed and reserved ones are ignored. With `parentVariables`, the branch and its parent are two
 * imports; the request succeeds if one of them does.
 */
export async function importVariables(
  dependencies: ChangeDependencies,
  caller: Caller,
  body: Import,
): Promise<void> {
  const { variables, parentVariables, ...options } = body;
  const parent = parentVariables && (await parentOf(dependencies, caller.environment));
  const settings = settingsOf(variables);
  const parentSettings = parentVariables && settingsOf(parentVariables);
  // Check both before writing, so that the success of one does not hide that the other is forbidden.
  if (!caller.isAdmin) refuseRestricted([...settings, ...(parentSettings ?? [])].map(({ name }) => name));
  const own = importInto(dependencies, caller, settings, options);
  if (!parentSettings || !parent) return own;
  const results = await Promise.allSettled([
    own,
    own
      .catch(() => {})
      .then(() => importInto(dependencies, { ...caller, environment: parent }, parentSettings, options)),
  ]);
  const reasons = results.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  );
  const fault = reasons.find((reason) => !(reason instanceof Problem));
  if (fault !== undefined) throw fault;
  if (reasons.length === results.length) throw reasons[0];
}

function settingsOf(variables: Import['variables']): readonly Setting[] {
  if (typeof variables === 'string') return parseDotenv(variables);
  if (Array.isArray(variables)) return variables;
  return Object.entries(variables).map(([name, value]) => ({ name, value }));
}

async function parentOf({ sql }: ChangeDependencies, branch: Environment): Promise<Environment> {
  const [row] = await sql<{ id: number; publicId: string }[]>`
    select p.id, p.public_id as "publicId" from environments e join environments p on p.id = e.parent_id
     where e.id = ${branch.id}`;
  if (!row) throw invalid('parentVariables: allowed only for a branch. Omit it.');
  return { ...branch, ...row, branch: null };
}

async function importInto(
  dependencies: ChangeDependencies,
  caller: Caller,
  input: readonly Setting[],
  { override, isSecret, source }: Omit<Import, 'variables' | 'parentVariables'>,
): Promise<void> {
  const settings = input.filter((setting) => !isUnnamed(setting) && !isReservedVariable(setting.name));
  if (settings.length === 0) throw noneLeft(input);
  refuseUnfit(settings);
  const names = settings.map(({ name }) => name);
  await changeVariables(
    dependencies,
    { ...caller, act: 'import', source, names },
    async (own, { tx, root }) => {
      if (!override)
        refuseExisting(
          caller.environment,
          names.filter((name) => own.has(name)),
        );
      const secretInParent =
        isSecret === undefined && root !== caller.environment.id
          ? await tx<{ name: string }[]>`
            select name from variables where env = ${root} and is_secret and name = any(${names}::text[])`
          : [];
      const inherited = new Set(secretInParent.map(({ name }) => name));
      return settings.map(({ name, value }) => ({
        name,
        value,
        isSecret: isSecret ?? own.get(name)?.isSecret ?? inherited.has(name),
      }));
    },
  );
}

function noneLeft(input: readonly Setting[]): Problem {
  const dropped = input.filter(({ name }) => isReservedVariable(name)).map(({ name }) => name);
  const problem = nothingValid();
  if (dropped.length === 0) return problem;
  return invalid(`${problem.message} Reserved names were ignored: ${dropped.slice(0, 10).join(', ')}.`);
}

function refuseUnfit(settings: readonly Setting[]): void {
  const seen = new Set<string>();
  const errors = settings.flatMap((setting): VariableError[] => {
    const unfit = whyNot(setting);
    if (unfit) return [unfit];
    if (seen.has(setting.name)) return [{ key: setting.name, error: 'Duplicate name: set it once.' }];
    seen.add(setting.name);
    return [];
  });
  if (errors.length === 0) return;
  throw invalid(
    `Nothing was set: ${errors.length} of the variables are invalid. See variableErrors.`,
    errors,
  );
}

function refuseExisting({ kind, branch }: Environment, names: readonly string[]): void {
  if (names.length === 0) return;
  const type = environmentTypes[kind];
  const title = `${type.charAt(0)}${type.slice(1).toLowerCase()}${branch === null ? '' : ` (${branch})`}`;
  throw invalid(
    'Some of the variables are already set for these environments. Set override to true to override them.',
    names.map((key) => ({ key, error: `Variable already set in ${title}.` })),
  );
}
