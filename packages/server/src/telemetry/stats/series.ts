/** The name of a series in `run_stats`. */
export const seriesName = {
  all: 'a',
  task: (id: string) => `t:${id}`,
  queue: (name: string) => `q:${name}`,
  version: (name: string) => `v:${name}`,
} as const;
