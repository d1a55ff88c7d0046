import { bundleOf, type TestBundle } from '../../packages/server/src/versions/deployments/testing/bundle.ts';

export interface DeployTo {
  readonly url: string;
  readonly key: string;
}

export interface CreatedDeployment {
  readonly id: string;
  readonly version: string;
  readonly missing: readonly { readonly blob: string; readonly received: number }[];
}

/** A request of a client that deploys. Throws unless the status is 200. */
export async function call<T>({ url, key }: DeployTo, request: string, body?: unknown): Promise<T> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

export const putBlob = (
  { url, key }: DeployTo,
  { id }: { readonly id: string },
  blob: string,
  data: Uint8Array<ArrayBuffer>,
  offset = 0,
): Promise<Response> =>
  fetch(`${url}/api/v1/deployments/${id}/blobs/${blob}?offset=${offset}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' },
    body: data,
  });

/** Deploys as a client does: creates, uploads missing blobs, finalizes. */
export async function deploy(to: DeployTo, bundle: TestBundle = bundleOf({})): Promise<CreatedDeployment> {
  const created = await call<CreatedDeployment>(to, 'POST /api/v1/deployments', bundle.body);
  for (const { blob, received } of created.missing) {
    const data = new Uint8Array(bundle.blobs.get(blob) ?? []);
    const response = await putBlob(to, created, blob, data.subarray(received), received);
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
  await call(to, `POST /api/v1/deployments/${created.id}/finalize`);
  return created;
}
