import { timeoutMessage, type SignText, type Transport } from './transport.ts';

/** The transport for platforms without node:http: browsers and edge runtimes. */
export const send: Transport = async ({ method, baseURL, path, headers, body, timeoutMs }) => {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new Error(timeoutMessage(timeoutMs))), timeoutMs);
  try {
    const reply = await fetch(baseURL + path, {
      method,
      headers,
      body,
      signal: deadline.signal,
      cache: 'no-store',
    });
    const text = await reply.text();
    return { status: reply.status, text, header: (name) => reply.headers.get(name) ?? undefined };
  } finally {
    clearTimeout(timer);
  }
};

export const signText: SignText | undefined = undefined;
