import type { Plugin } from 'esbuild';
import type { Project } from '../project/load.ts';
import { ProjectError } from '../project/problem.ts';
import { startExtensions } from '../published/project/extensions.ts';

/** The plugins of esbuild that extensions of a `trigger.config.ts` add. */
export async function publishedPlugins(
  { dir, published }: Project,
  target: 'dev' | 'deploy',
): Promise<Plugin[]> {
  if (!published || published.config.extensions.list.length === 0) return [];
  try {
    const { plugins } = await startExtensions(published.config.extensions, dir, target);
    return [...plugins];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ProjectError({
      file: published.file ?? 'trigger.config.ts',
      line: null,
      column: null,
      message,
    });
  }
}
