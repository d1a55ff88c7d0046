/** Whether a Millrace server responds at the address. */
export async function isMillrace(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(5_000),
    });
    const body = (await response.json()) as { status?: unknown } | null;
    return response.ok && body?.status === 'ok';
  } catch {
    return false;
  }
}
