/** The documentation pages that the package contains, because messages and help texts refer to them. */
export const pages = [
  'backup',
  'database',
  'doctor',
  'environment-variables',
  'operations',
  'poolers',
  'postgresql',
  'tracing',
  'troubleshooting',
] as const;
