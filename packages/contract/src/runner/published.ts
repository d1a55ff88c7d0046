import { z } from 'zod';
import { machinePresets, retryPolicy } from './manifest.ts';

export const logLevelSettings = ['none', 'error', 'warn', 'info', 'debug'] as const;

/**
 * The settings that executors need for a project with tasks for the published SDK (`@trigger.dev/sdk`), from its `trigger.config.ts`. They are
 * stored with a version.
 */
export const publishedSettings = z.object({
  /** The version of the project's copy of the package. */
  version: z.string(),
  /** The configuration, if its default export has hooks: one of the preloads of the version. */
  configFile: z.string().optional(),
  /** `retries.default`. Without it, a task without its own settings has one attempt. */
  retry: retryPolicy.optional(),
  /** `retries.enabledInDev` is false: in the development environment a run has one attempt. */
  noRetriesInDev: z.boolean().optional(),
  /** Maximum duration in seconds. */
  maxDuration: z.number().optional(),
  machine: z.enum(machinePresets).optional(),
  ttl: z.union([z.string(), z.number()]).optional(),
  /** Lines of `logger` below this level are dropped. Default `info`. */
  logLevel: z.enum(logLevelSettings).optional(),
});
export type PublishedSettings = z.infer<typeof publishedSettings>;
