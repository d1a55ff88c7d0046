/** The operations whose answers a change of versions outdates. */
export const outdated = [
  'listDeployments',
  'retrieveDeployment',
  'retrieveCurrentDeployment',
  'retrieveLatestDeployment',
] as const;
