/** The operations whose responses a change of versions invalidates. */
export const outdated = [
  'listDeployments',
  'retrieveDeployment',
  'compareDeployments',
  'retrieveCurrentDeployment',
  'retrieveLatestDeployment',
] as const;
