/** The response is the blob itself, `application/octet-stream`, not JSON; the server has a separate route for it. */
export const blobPath = (version: string, blob: string): string =>
  `/runner/v1/versions/${encodeURIComponent(version)}/blobs/${blob}`;
