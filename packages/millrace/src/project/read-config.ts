import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectError } from '@millrace/diagnostics';
import { checkConfig } from './config.ts';
import type { ProjectConfig } from './config.ts';
import { configFiles } from './config-files.ts';
import { evaluateConfig } from './evaluate-config.ts';

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
