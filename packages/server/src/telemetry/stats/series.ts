/**
 * The beginning of the series of a task on a version. They are counted in six-hour roll-ups only, so that a version of a hundred tasks adds
 * four hundred rows a day, and not one for each task and minute.
 */
const versionTaskPrefix = 'w:';

/** The name of a series in `run_stats`. */
export const seriesName = {
  all: 'a',
  task: (id: string) => `t:${id}`,
  queue: (name: string) => `q:${name}`,
  version: (name: string) => `v:${name}`,
  versionTask: (version: string, task: string) => `${versionTaskPrefix}${version} ${task}`,
} as const;

export const isVersionTask = (series: string): boolean => series.startsWith(versionTaskPrefix);
