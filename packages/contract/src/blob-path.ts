/** The answer is the blob itself, `application/octet-stream`, not JSON; a route of its own on the server. */
export const blobPath = (version: string, blob: string): string =>
  `/runner/v1/versions/${encodeURIComponent(version)}/blobs/${blob}`;
