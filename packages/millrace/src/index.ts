export { defineConfig } from './project/define-config.ts';
export type { ProjectConfig } from './project/config.ts';
export type { BuildSettings } from './project/build-settings.ts';
export {
  addPackages,
  copyFiles,
  defineConstants,
  runCommand,
  type BuildContext,
  type BuildExtension,
} from './project/extensions.ts';
