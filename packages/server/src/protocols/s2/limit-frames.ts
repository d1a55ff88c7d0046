import { constants, type ServerHttp2Session } from 'node:http2';

/** Control frames that one connection may send in `windowMs`. A client sends its settings once and pings every few seconds. */
const maxFrames = 100;
const windowMs = 10_000;

/** Ends a connection that floods pings or settings. Each costs an answer, and nothing else limits them. */
export function limitFrames(session: ServerHttp2Session): void {
  let count = 0;
  let since = performance.now();
  const counted = (): void => {
    const now = performance.now();
    if (now - since > windowMs) {
      since = now;
      count = 0;
    }
    if (++count > maxFrames) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on('ping', counted);
  session.on('remoteSettings', counted);
}
