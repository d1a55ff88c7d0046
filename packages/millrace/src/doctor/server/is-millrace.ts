/** Whether a Millrace server answers there. */
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
