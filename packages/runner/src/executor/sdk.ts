import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as Executor from '@millrace/sdk/executor';

export type Sdk = typeof Executor;

const sdkModule = '@millrace/sdk/executor';

/** The location of the SDK that the project's tasks import. Two copies would not share the current run. */
export function locateSdk(projectDir: string): string {
  try {
    return pathToFileURL(createRequire(join(projectDir, 'millrace.js')).resolve(sdkModule)).href;
  } catch {
    return import.meta.resolve(sdkModule);
  }
}

/**
 * Loads the SDK that the builds of a project in `.millrace` import (see `lendSdk`). The code of a deployed version contains it: `module` is the
 * file that exports it there.
 */
export const loadSdk = async (projectDir: string, module?: string): Promise<Sdk> =>
  (await import(
    module === undefined ? locateSdk(join(projectDir, '.millrace')) : pathToFileURL(module).href
  )) as Sdk;

/** The version of that SDK, if its package contains it. */
export function sdkVersion(projectDir: string): string | undefined {
  let folder = dirname(fileURLToPath(locateSdk(projectDir)));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      version?: unknown;
    };
    return typeof version === 'string' ? version : undefined;
  } catch {
    return undefined;
  }
}
