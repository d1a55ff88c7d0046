/** Repeats a request until it gets a response, as a client does that does not know its result. */
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
      // No server, or it stopped during the request.
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
