/** The files of a first project. */
export { firstProject, newProject, packageName, parts, publishedParts, readme } from './first-project.ts';
export { changeFolder, firstTrigger, type PackageManager, packageManagerOf } from './package-manager.ts';
