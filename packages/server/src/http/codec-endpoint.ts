/**
 * The address of a codec endpoint, for the page and its Content-Security-Policy. Throws a TypeError unless it is https, or http on this
 * machine, without a user, a query or a fragment.
 */
export function checkedEndpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === 'http:' && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  // These characters would end a directive, a source or an attribute.
  if ((url?.protocol === 'https:' || isLocal) && isPlain && !/[\s;,'"<>&*]/.test(url.href)) return url.href;
  throw new TypeError(
    'codecEndpoint (MILLRACE_CODEC_ENDPOINT) must be an https address such as https://codec.example.com/open, without a user, a query or a fragment; http only on localhost.',
  );
}
