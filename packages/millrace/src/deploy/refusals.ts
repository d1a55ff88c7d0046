import type { ProcessEnvironment } from '@millrace/runner';
import { type Problem, ProjectError, ProjectRefused } from '@millrace/diagnostics';
import { setsVariables } from '@millrace/compat';
import type { Project } from '../project/load.ts';
import { compileProject, nodeMajorOf, tasksOf, withLayerProblems } from './compile-project.ts';
import { planLayers } from './layers.ts';

/**
 * The problems for which `millrace deploy` would reject a project. Nothing is installed or sent. With `env`, task files are imported.
 * Extensions are called as for a deployment, except those that only set variables, because they call other services.
 */
export async function deploymentRefusals(
  original: Project,
  env?: ProcessEnvironment,
): Promise<readonly Problem[]> {
  try {
    const target = { projectRef: '', environment: 'prod', branch: undefined, env: env?.added ?? {} };
    const compiled = await compileProject(
      withoutVariables(original),
      nodeMajorOf(original),
      async () => target,
    );
    await withLayerProblems(() => planLayers(compiled.project, compiled.build.externals));
    if (env) await tasksOf(compiled, env);
    return [];
  } catch (error) {
    if (error instanceof ProjectRefused) return error.problems;
    if (error instanceof ProjectError) return [error.problem];
    throw error;
  }
}

function withoutVariables(project: Project): Project {
  const { published } = project;
  if (!published) return project;
  const { config } = published;
  const list = config.extensions.list.filter(({ name }) => !setsVariables(name));
  const extensions = { ...config.extensions, list };
  return { ...project, published: { ...published, config: { ...config, extensions } } };
}
