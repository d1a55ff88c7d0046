import { z } from 'zod';
import { platform } from '@millrace/contract/runner';
import type { BuildExtension } from './extensions.ts';

/** How `millrace deploy` builds a project: `build` of `millrace.config.ts`. */
export interface BuildSettings {
  /** Packages that are not bundled but installed into the layer, because they read their own files. */
  external?: string[];
  /** Build hooks. */
  extensions?: BuildExtension[];
  /** The platforms of the layers. Default `['linux-x64-glibc']`. */
  platforms?: string[];
}

const packageName = z
  .string()
  .regex(/^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i, 'must be the name of a package, such as sharp');
const constantName = /^[\p{L}_$][\p{L}\p{N}_$]*(?:\.[\p{L}_$][\p{L}\p{N}_$]*)*$/u;
const hook = z.custom<BuildExtension['beforeBuild']>(
  (value) => typeof value === 'function',
  'must be a function',
);

const settings = z.strictObject({
  external: z.array(packageName).optional(),
  platforms: z.array(platform).min(1, 'must name at least one platform').max(16).optional(),
  extensions: z
    .array(
      z.strictObject({
        name: z.string().min(1, 'must not be empty'),
        beforeBuild: hook.optional(),
        define: z
          .record(z.string(), z.json())
          .refine((constants) => Object.keys(constants).every((name) => constantName.test(name)), {
            message: 'must have JavaScript names as its keys, such as __RELEASE__ or process.env.NODE_ENV',
          })
          .optional(),
        files: z.array(z.string().min(1, 'must not be empty')).optional(),
        packages: z.array(packageName).optional(),
      }),
    )
    .optional(),
});

/** The settings with their defaults, or an error message if they are invalid. */
export function buildSettings(value: unknown): Required<BuildSettings> | string {
  const parsed = settings.safeParse(value ?? {});
  if (!parsed.success) {
    const { path = [], message } = parsed.error.issues[0] ?? { message: 'is not valid' };
    return `"${['build', ...path].join('.')}": ${message}`;
  }
  const { external = [], extensions = [], platforms = ['linux-x64-glibc'] } = parsed.data;
  return { external, extensions, platforms: [...new Set(platforms)] };
}
