/** The pages of the documentation that the package contains, because messages and help texts name them. */
export const pages = [
  'backup',
  'database',
  'doctor',
  'environment-variables',
  'operations',
  'poolers',
  'tracing',
  'troubleshooting',
] as const;
