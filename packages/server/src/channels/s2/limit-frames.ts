import { constants, type ServerHttp2Session } from 'node:http2';

/** Control frames that one connection may send in `windowMs`. A client sends its settings once and pings every few seconds. */
const maxFrames = 100;
/** Streams of one connection in `windowMs` that are rejected or reset before they are admitted. */
const maxUnadmitted = 200;
const windowMs = 10_000;

export interface FrameLimits {
  /** A stream of the connection became an append session and is no longer counted. */
  admitted(): void;
}

/**
 * Ends a connection that floods the server with pings or settings, or opens streams only to reset them or have them rejected, because each
 * costs a response. nghttp2 limits resets too, but merely ignores further ones and leaves the connection open.
 */
export function limitFrames(session: ServerHttp2Session): FrameLimits {
  let frames = 0;
  let unadmitted = 0;
  let since = performance.now();
  const startWindow = (): void => {
    const now = performance.now();
    if (now - since <= windowMs) return;
    since = now;
    frames = 0;
    unadmitted = 0;
  };
  const end = (): void => session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const counted = (): void => {
    startWindow();
    if (++frames > maxFrames) end();
  };
  session.on('ping', counted);
  session.on('remoteSettings', counted);
  session.on('stream', () => {
    startWindow();
    if (++unadmitted > maxUnadmitted) end();
  });
  return { admitted: () => void (unadmitted = Math.max(0, unadmitted - 1)) };
}
