import { logLevelSettings, machinePresets, type PublishedSettings } from '@millrace/contract/runner';
import { z } from 'zod';
import { configuredHooks, configuredKinds } from '../settings/configuration.ts';
import { retryPolicyOf } from '../settings/retry.ts';
import { isNewer, unknownNote } from '../support/newer.ts';
import { deployEnvVars, readExtensions, resolving, type Extensions } from './extensions.ts';
import { settingNotes } from './setting-notes.ts';

/** The supported part of `trigger.config.ts`. */
export interface PublishedConfig {
  readonly project: string | undefined;
  readonly dirs: readonly string[] | undefined;
  readonly ignorePatterns: readonly string[];
  readonly settings: Omit<PublishedSettings, 'version' | 'configFile'>;
  readonly hasHooks: boolean;
  readonly external: readonly string[];
  readonly conditions: readonly string[];
  readonly jsx: { readonly factory?: string; readonly fragment?: string; readonly automatic?: boolean };
  readonly tsconfig: string | undefined;
  readonly extensions: Extensions;
  /** Messages about settings that have a different meaning here, or none. */
  readonly notes: readonly string[];
}

const maxDurationSeconds = 2_147_483_647;
const schema = z.looseObject({
  project: z.string().optional(),
  dirs: z.array(z.string()).optional(),
  triggerDirectories: z.array(z.string()).optional(),
  ignorePatterns: z.array(z.string()).optional(),
  runtime: z.string().optional(),
  deploy: z.looseObject({ env: z.record(z.string(), z.string()).optional() }).optional(),
  tsconfig: z.string().optional(),
  tsconfigPath: z.string().optional(),
  retries: z
    .looseObject({ enabledInDev: z.boolean().optional(), default: z.looseObject({}).optional() })
    .optional(),
  machine: z
    .union([
      z.enum(machinePresets),
      z.looseObject({ preset: z.enum(machinePresets) }).transform(({ preset }) => preset),
    ])
    .optional(),
  // Other values, such as `log` in older projects, mean `info`.
  logLevel: z.enum(logLevelSettings).optional().catch(undefined),
  maxDuration: z.number().int().min(5).max(maxDurationSeconds).optional(),
  ttl: z.union([z.string(), z.number()]).optional(),
  build: z
    .looseObject({
      external: z.array(z.string()).optional(),
      conditions: z.array(z.string()).optional(),
      extensions: z.array(z.unknown()).optional(),
      jsx: z
        .looseObject({
          factory: z.string().optional(),
          fragment: z.string().optional(),
          automatic: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
});

/**
 * Parses the default export of a project with this version of the published SDK. Returns an error message if it is invalid. A message about
 * a setting begins with its name in quotation marks.
 */
export function readPublishedConfig(
  exported: unknown,
  version: string,
  resolveEnvVars?: unknown,
): PublishedConfig | string {
  if (typeof exported !== 'object' || exported === null)
    return 'must export its configuration as default: export default defineConfig({ … })';
  const parsed = schema.safeParse(exported);
  if (!parsed.success) {
    const { path = [], message } = parsed.error.issues[0] ?? { message: 'is not valid' };
    return `"${path.join('.')}": ${message}`;
  }
  const { data } = parsed;
  const extensions = readExtensions(data.build?.extensions ?? []);
  if (typeof extensions === 'string') return extensions;
  const resolve = data['resolveEnvVars'] ?? resolveEnvVars;
  const { env } = data.deploy ?? {};
  const list = [
    ...extensions.list,
    ...(env === undefined ? [] : [deployEnvVars(env)]),
    ...(typeof resolve === 'function' ? [resolving(resolve as Parameters<typeof resolving>[0])] : []),
  ];
  const { notes, unknown } = settingNotes(exported);
  const [newer] = isNewer(version)
    ? unknown.filter((name) => !(name in configuredKinds) && name !== 'resolveEnvVars')
    : [];
  if (newer !== undefined) return `"${newer}": not supported by Millrace: ${unknownNote(version)}`;
  return {
    project: data.project,
    dirs: data.dirs ?? data.triggerDirectories,
    ignorePatterns: data.ignorePatterns ?? [],
    settings: {
      retry: data.retries?.default && retryPolicyOf(data.retries.default),
      ...(data.retries?.enabledInDev === false && { noRetriesInDev: true }),
      maxDuration: data.maxDuration,
      machine: data.machine,
      ttl: data.ttl,
      logLevel: data.logLevel,
    },
    hasHooks: configuredHooks(exported as Record<string, unknown>).length > 0,
    external: data.build?.external ?? [],
    conditions: data.build?.conditions ?? [],
    jsx: data.build?.jsx ?? {},
    tsconfig: data.tsconfig ?? data.tsconfigPath,
    extensions: { ...extensions, list },
    notes: [...notes, ...extensions.notes],
  };
}
