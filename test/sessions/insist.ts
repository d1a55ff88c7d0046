/** A request that is sent again until it is answered, as a client does that does not know what became of it. */
export async function insist(
  url: string,
  secretKey: string,
  path: string,
  {
    method = 'POST',
    body,
    headers,
  }: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: unknown }> {
  for (;;) {
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${secretKey}`, ...headers },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(10_000),
      });
      const answer: unknown = await response.json();
      if (response.status < 500) return { status: response.status, body: answer };
    } catch {
      // Nobody there, or gone in the midst of it.
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
