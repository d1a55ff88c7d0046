import { describeCopy } from '@millrace/compat';
import type { Project } from '../../project/load.ts';

/** Messages about the part of a project that uses the published SDK: that it was found, and which settings differ. */
export const publishedLines = ({ version, file, config }: NonNullable<Project['published']>): string[] => [
  describeCopy(version, file),
  ...config.notes.map((note) => `${file}: ${note}`),
];
