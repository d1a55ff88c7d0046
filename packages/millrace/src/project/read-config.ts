import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkConfig } from './config.ts';
import type { ProjectConfig } from './config.ts';
import { evaluateConfig } from './evaluate-config.ts';
import { ProjectError } from './problem.ts';

/** Names of the configuration file; the first that is there counts. */
export const configFiles = ['ts', 'mts', 'js', 'mjs'].map((extension) => `millrace.config.${extension}`);

export interface ReadConfig {
  readonly file: string | null;
  readonly config: ProjectConfig;
}

export async function readConfig(projectDir: string): Promise<ReadConfig> {
  const file = configFiles.find((name) => existsSync(join(projectDir, name)));
  if (file === undefined) return { file: null, config: {} };
  const { default: exported } = await evaluateConfig(projectDir, file);
  const config = checkConfig(exported);
  if (typeof config === 'string') throw new ProjectError({ file, line: null, column: null, message: config });
  return { file, config };
}
