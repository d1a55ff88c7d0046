import { ProjectError } from '@millrace/diagnostics';
import type { Plugin } from 'esbuild';
import { startExtensions } from './extensions.ts';
import type { PublishedProject } from './read.ts';

/** A project that may partly use the published SDK. */
export interface ProjectWithPublished {
  /** Absolute. */
  readonly dir: string;
  readonly published?: PublishedProject | undefined;
}

/** The esbuild plugins that extensions of a `trigger.config.ts` add. */
export async function publishedPlugins(
  { dir, published }: ProjectWithPublished,
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
