import { maxPacketBytes, sealedType } from '@millrace/contract';
import { JsonScan } from '@millrace/contract/foreign-json';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import { tooDeep } from '../json/levels.ts';
import { Problem } from '../problem.ts';

export interface PacketStore {
  readonly sql: Sql;
  readonly clock: Clock;
}

export interface NewPacket {
  readonly env: number;
  readonly name: string;
  readonly contentType: string;
  /** The uploader, if it is a restricted caller. */
  readonly by?: string | null;
}

const pieceBytes = 256 * 1024;
// The key space of the advisory lock.
const nameLock = 7_144_006;
/** Other types are stored as bytes, so that a signed URL never serves a page. */
const safeTypes = new Set(['application/json', 'application/super+json', 'text/plain', sealedType]);

/** The stored content type of a packet. */
export function packetType(contentType: string | undefined): string {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return safeTypes.has(type) ? type : 'application/octet-stream';
}

/**
 * Stores a packet piece by piece and sets its name when it is complete. Replaces an existing packet with that name unless a run names it (409),
 * because the payload of a run must not change. 413 if it is too large, 400 if it is nested too deeply.
 */
export async function writePacket(
  { sql, clock }: PacketStore,
  { env, name, contentType, by = null }: NewPacket,
  content: AsyncIterable<Uint8Array>,
): Promise<void> {
  const [row] = await sql<{ id: string }[]>`
    insert into packets (env, content_type, created_at, used_at)
    values (${env}, ${contentType}, ${new Date(clock.now())}, ${new Date(clock.now())}) returning id`;
  if (!row) throw new TypeError('the insert of a packet returned no row');
  const { id } = row;
  try {
    let ix = 0;
    let bytes = 0;
    const scan = contentType.includes('json') ? new JsonScan({ maxMembers: Infinity }) : undefined;
    for await (const piece of inPieces(content)) {
      bytes += piece.length;
      scan?.add(piece);
      if (scan?.exceeded) throw tooDeep('The content');
      if (bytes > maxPacketBytes) {
        throw new Problem(
          'too_large',
          `A payload or an output has at most ${maxPacketBytes} bytes.`,
          {},
          false,
        );
      }
      await sql`insert into packet_pieces (packet_id, ix, data) values (${id}, ${ix++}, ${piece})`;
    }
    await giveName(sql, { id, env, name, bytes, by });
  } catch (error) {
    await sql`delete from packets where id = ${id}`.catch(() => undefined);
    throw error;
  }
}

async function giveName(
  sql: Sql,
  { id, env, name, bytes, by }: { id: string; env: number; name: string; bytes: number; by: string | null },
): Promise<void> {
  await sql.begin(async (tx) => {
    // Serializes concurrent uploads of one name.
    await tx`select pg_advisory_xact_lock(${nameLock}, hashtext(${`${env} ${name}`}))`;
    const [before] = await tx<{ id: string; uploaded_by: string | null }[]>`
      select id, uploaded_by from packets where env = ${env} and name = ${name} for update`;
    if (before) {
      if (by !== null && before.uploaded_by !== by) throw taken(name);
      const [used] = await tx`
        select 1 as used from runs where env = ${env} and payload = ${name} and payload_type = 'application/store'
        union all select 1 from runs where env = ${env} and output = ${name} and output_type = 'application/store'
        union all select 1 from run_steps where env = ${env} and output = ${name} and output_type = 'application/store' limit 1`;
      if (used) throw taken(name);
      await tx`delete from packets where id = ${before.id}`;
    }
    await tx`update packets set name = ${name}, bytes = ${bytes}, uploaded_by = ${by} where id = ${id}`;
  });
}

const taken = (name: string): Problem =>
  new Problem('packet_exists', `A packet "${name}" already exists: use another name.`, {}, false);

/** Splits content into pieces of one size. */
async function* inPieces(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    let from = 0;
    while (size + chunk.length - from >= pieceBytes) {
      const to = from + pieceBytes - size;
      yield Buffer.concat([...waiting, chunk.subarray(from, to)]);
      waiting = [];
      size = 0;
      from = to;
    }
    if (from < chunk.length) {
      waiting.push(chunk.subarray(from));
      size += chunk.length - from;
    }
  }
  if (size > 0) yield Buffer.concat(waiting);
}
