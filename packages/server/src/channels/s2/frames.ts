/**
 * Frames of an append session: three bytes of length, a flag byte, the body. The length includes the flag byte. The flag's first bit marks
 * the last frame, whose body is a status and its reason. The next two bits specify the compression.
 */
import { NotReadable } from './protobuf.ts';

const maxFrameBytes = 2 * 1_048_576;
const terminal = 0x80;
const compression = 0x60;

/** Splits incoming bytes into the bodies of frames. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;

  /** Yields the frames that this chunk completes. Throws `NotReadable`. */
  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    for (;;) {
      if (this.#length < 4) return;
      const head = this.#take(4, false);
      const length = head.readUIntBE(0, 3);
      if (length < 1 || length > maxFrameBytes) throw new NotReadable('A frame has an invalid length.');
      if (this.#length < 3 + length) return;
      const frame = this.#take(3 + length, true);
      const flag = frame[3] ?? 0;
      if ((flag & compression) !== 0) throw new NotReadable('Compressed frames are not supported.');
      if ((flag & terminal) !== 0) return;
      yield frame.subarray(4);
    }
  }

  #take(length: number, remove: boolean): Buffer {
    const first = this.#chunks[0];
    const all = first && first.length >= length ? first : Buffer.concat(this.#chunks);
    if (all !== first) this.#chunks = [all];
    if (remove) {
      this.#chunks[0] = all.subarray(length);
      this.#length -= length;
    }
    return all.subarray(0, length);
  }
}

export function frameOf(body: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUIntBE(1 + body.length, 0, 3);
  frame[3] = 0;
  body.copy(frame, 4);
  return frame;
}

/** The last frame of a session that failed. */
export function lastFrame(status: number, reason: object): Buffer {
  const text = Buffer.from(JSON.stringify(reason));
  const frame = Buffer.allocUnsafe(6 + text.length);
  frame.writeUIntBE(3 + text.length, 0, 3);
  frame[3] = terminal;
  frame.writeUInt16BE(status, 4);
  text.copy(frame, 6);
  return frame;
}
