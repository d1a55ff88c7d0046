/** The operations whose responses a change of versions invalidates. */
export const outdated = [
  'listDeployments',
  'retrieveDeployment',
  'retrieveCurrentDeployment',
  'retrieveLatestDeployment',
] as const;
