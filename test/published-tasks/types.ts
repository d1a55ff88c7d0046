import { API, type Checker, type Symbol as Name, SignatureKind, type Type } from 'typescript/unstable/sync';
import { hasMembers, type Kind } from '../../packages/compat/src/support/table.ts';
import { publishedProject } from './project.ts';
import type { Minor } from './versions.ts';

/** The options of each kind as types. Some came after 4.0. */
const options = {
  '4.0': `
type Options = sdk.TaskOptions<'a', any>;
type Arguments<K extends keyof Options> = Parameters<Extract<NonNullable<Options[K]>, (...args: any) => any>>[0];
export type task =
  | Options
  | Parameters<typeof sdk.schemaTask>[0]
  | Parameters<typeof sdk.toolTask>[0]
  | sdk.schedules.ScheduleOptions<'a', unknown, any>;
export type hook =
  | Parameters<Options['run']>[1]
  | Arguments<'init'> | Arguments<'cleanup'> | Arguments<'middleware'>
  | Arguments<'onStart'> | Arguments<'onSuccess'> | Arguments<'onFailure'> | Arguments<'onComplete'>
  | Arguments<'onCancel'> | Arguments<'onWait'> | Arguments<'onResume'> | Arguments<'catchError'>;
export type catchError = Exclude<Awaited<ReturnType<NonNullable<Options['catchError']>>>, void | undefined>;
export type trigger = sdk.TriggerOptions;
export type batch = NonNullable<Parameters<typeof sdk.tasks.batchTrigger>[2]>;
export type queue = sdk.Queue;
export type config = Parameters<typeof sdk.defineConfig>[0];
`,
  '4.8': `
type More = sdk.TaskOptions<'a', any>;
export type moreOfHook = Parameters<NonNullable<More['onStartAttempt']>>[0];
export type moreOfTrigger =
  | NonNullable<Parameters<typeof sdk.tasks.triggerAndWait>[2]>
  | NonNullable<Parameters<typeof sdk.tasks.triggerAndSubscribe>[2]>;
export type limit = Parameters<typeof sdk.concurrencyLimit>[0];
export type webhook = Omit<sdk.WebhookOptions<'a', any>, keyof sdk.WebhookTaskOptions<'a', any>>;
export type endpoint = sdk.WebhookEndpointOptions<'a', any>;
export const agents = ai;
`,
} as const;

const kindOf: Readonly<Record<string, Kind>> = {
  moreOfHook: 'hook',
  moreOfTrigger: 'trigger',
  sdk: 'export',
};

/** The names in the types of a minor version, as `<kind> <name>`: its options, and its exports with their members. */
export async function namesInTypes(
  minor: Extract<Minor, keyof typeof options>,
  values: ReadonlySet<string>,
  onEnd: (end: () => Promise<void>) => void,
): Promise<Set<string>> {
  const text = `import * as sdk from '@trigger.dev/sdk';\n${minor === '4.0' ? '' : `import * as ai from '@trigger.dev/sdk/ai';\n${options['4.8']}`}
${options['4.0']}export { sdk };`;
  const { dir } = await publishedProject(
    minor,
    {
      'names.ts': text,
      'tsconfig.json': JSON.stringify({
        compilerOptions: { module: 'nodenext', strict: true, skipLibCheck: true, noEmit: true, types: [] },
        files: ['names.ts'],
      }),
    },
    onEnd,
  );
  const api = new API({});
  try {
    const [config, file] = [`${dir}/tsconfig.json`, `${dir}/names.ts`];
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    const source = project?.program.getSourceFile(file);
    const module = source && project?.checker.getSymbolAtLocation(source);
    if (!project || !module) throw new Error(`The types of ${minor} were not read.`);
    const errors = project.program.getSemanticDiagnostics(file).map((diagnostic) => diagnostic.text);
    if (errors.length > 0) throw new Error(errors.join('\n'));
    return namesOf(project.checker, module, values);
  } finally {
    api.close();
  }
}

function namesOf(checker: Checker, module: Name, values: ReadonlySet<string>): Set<string> {
  const names = new Set<string>();
  const walk = (type: Type | undefined, kind: Kind, path: string): void => {
    for (const part of objectsIn(checker, type))
      for (const property of checker.getPropertiesOfType(part)) {
        const name = path + property.name;
        const isRoot = path === '' && (kind === 'export' || kind === 'agents');
        if (/^__|^_|@/.test(property.name) || (isRoot && !values.has(`${kind} ${name}`))) continue;
        names.add(`${kind} ${name}`);
        if (hasMembers(kind, name)) walk(checker.getTypeOfSymbol(property), kind, `${name}.`);
      }
  };
  for (const exported of checker.getExportsOfModule(module)) {
    const isValue = exported.name === 'sdk' || exported.name === 'agents';
    const type = isValue ? checker.getTypeOfSymbol(exported) : checker.getDeclaredTypeOfSymbol(exported);
    walk(type, kindOf[exported.name] ?? (exported.name as Kind), '');
  }
  return names;
}

/** The object types in a type, without functions, and with the elements of arrays. */
function objectsIn(checker: Checker, type: Type | undefined): Type[] {
  if (!type) return [];
  if (type.isUnionType()) return type.getTypes().flatMap((part) => objectsIn(checker, part));
  if (!type.isObjectType() && !type.isIntersectionType()) return [];
  if (checker.isArrayLikeType(type) && type.isTypeReference())
    return checker.getTypeArguments(type).flatMap((part) => objectsIn(checker, part));
  return checker.getSignaturesOfType(type, SignatureKind.Construct).length > 0 ? [] : [type];
}
