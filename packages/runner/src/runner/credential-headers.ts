/** The credentials of a request to a server. */
interface KeyOfBranch {
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
}

export const credentialHeaders = ({ secretKey, branch }: KeyOfBranch): Record<string, string> => ({
  authorization: `Bearer ${secretKey}`,
  ...(branch !== undefined && { 'x-service-branch': branch }),
});
