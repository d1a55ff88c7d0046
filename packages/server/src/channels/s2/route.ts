import { refusalOf, streamsPath, type Admitted, type StreamAppends } from './append.ts';
import {
  readAppendInput,
  writeAppendAck,
  type AppendAck,
  type AppendInput,
  type Position,
} from './protobuf.ts';

interface JsonInput {
  readonly records: readonly {
    readonly body: string;
    readonly headers?: readonly (readonly [string, string])[] | null | undefined;
  }[];
  readonly match_seq_num?: number | null | undefined;
  readonly fencing_token?: string | null | undefined;
}

const toResponse = ({ seqNum, timestamp }: Position) => ({ seq_num: seqNum, timestamp });

/** The route of single appends, mounted by the HTTP server. */
export const appendRoute = (appends: StreamAppends) => ({
  path: streamsPath,
  admit: appends.admit,
  append: (to: Admitted, input: AppendInput): Promise<unknown> => appends.append(to, input),
  read: (body: Buffer | JsonInput): AppendInput =>
    Buffer.isBuffer(body)
      ? readAppendInput(body)
      : {
          records: body.records.map((record) => ({
            body: Buffer.from(record.body),
            headers: record.headers ?? [],
          })),
          matchSeqNum: body.match_seq_num ?? undefined,
          fencingToken: body.fencing_token ?? undefined,
        },
  // `ack` is the result of `append`.
  binary: (ack: unknown): Buffer => writeAppendAck(ack as AppendAck),
  json(ack: unknown): object {
    const { start, end, tail } = ack as AppendAck;
    return { start: toResponse(start), end: toResponse(end), tail: toResponse(tail) };
  },
  refusal: refusalOf,
});
