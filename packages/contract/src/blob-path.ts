/** The response is not JSON but the blob itself (`application/octet-stream`); the server has a separate route for it. */
export const blobPath = (version: string, blob: string): string =>
  `/runner/v1/versions/${encodeURIComponent(version)}/blobs/${blob}`;
