import type { Queryable } from '../db/connect.ts';

export interface StoredPacket {
  readonly contentType: string;
  readonly bytes: number;
  /** Read lazily, piece by piece. */
  readonly content: AsyncIterable<Buffer>;
}

/** A completely uploaded packet; undefined if none has that name. */
export async function readPacket(
  sql: Queryable,
  env: number,
  name: string,
): Promise<StoredPacket | undefined> {
  const [row] = await sql<{ id: string; content_type: string; bytes: number }[]>`
    select id, content_type, bytes from packets where env = ${env} and name = ${name}`;
  return row && { contentType: row.content_type, bytes: row.bytes, content: pieces(sql, row.id, row.bytes) };
}

async function* pieces(sql: Queryable, id: string, bytes: number): AsyncGenerator<Buffer> {
  for (let ix = 0, left = bytes; left > 0; ix += 1) {
    const [piece] = await sql<{ data: Buffer }[]>`
      select data from packet_pieces where packet_id = ${id} and ix = ${ix}`;
    // The packet was replaced or deleted in the meantime, so the declared length is wrong.
    if (!piece) throw new Error('A packet ended while it was read.');
    left -= piece.data.length;
    yield piece.data;
  }
}

/** A text and its content type. */
export interface StoredText {
  readonly text: string;
  readonly type: string;
}

/** Reads a whole packet into memory. */
export async function readPacketText(
  sql: Queryable,
  env: number,
  name: string,
): Promise<StoredText | undefined> {
  const packet = await readPacket(sql, env, name);
  if (!packet) return undefined;
  const parts: Buffer[] = [];
  for await (const part of packet.content) parts.push(part);
  return { text: Buffer.concat(parts).toString('utf8'), type: packet.contentType };
}
