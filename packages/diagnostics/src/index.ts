export {
  allowedScripts,
  installedFolder,
  manifestFolder,
  type PackageManifest,
  packageOf,
  readManifest,
  sharedPackages,
} from './installed-package.ts';
export { importedFile, locate, projectPath } from './locate.ts';
export { explainMissing } from './older-package.ts';
export { describeProblem, type Problem, ProjectError, ProjectRefused } from './problem.ts';
