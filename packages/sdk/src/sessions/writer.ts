import { jsonText } from '../payload/json.ts';

export interface WrittenRecord {
  readonly body: string;
  readonly headers?: [string, string][];
}

const maxRecords = 500;
const maxCharacters = 250_000;

/** A data record as JSON: dates become strings. Throws an UnserializableError that names the offending value. */
export function dataRecord(data: unknown): WrittenRecord {
  const id = crypto.randomUUID().slice(0, 8);
  return { body: `{"data":${jsonText(data, 'chunk') ?? 'null'},"id":"${id}"}` };
}

/** Sends records, with one part id for all attempts; resolves with the number of the first record. */
export type SendRecords = (records: readonly WrittenRecord[], partId: string) => Promise<number>;

/** Writes records in order. Records added while a request is in flight share the next one. */
export class OutQueue {
  readonly #send: SendRecords;
  #waiting: { record: WrittenRecord; resolve(seq: number): void; reject(reason: unknown): void }[] = [];
  #writing = false;
  #failed: unknown;

  constructor(send: SendRecords) {
    this.#send = send;
  }

  /** Resolves with the record's number when it is durable. After a failure nothing more is written, to preserve the order. */
  add(record: WrittenRecord): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== undefined) {
        reject(this.#failed);
        return;
      }
      this.#waiting.push({ record, resolve, reject });
      if (this.#writing) return;
      this.#writing = true;
      // Include records added in the same tick.
      queueMicrotask(() => void this.#write());
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#take();
      try {
        // The same part id for all retries, so that the records are appended once.
        const start = await this.#send(
          group.map(({ record }) => record),
          crypto.randomUUID(),
        );
        group.forEach(({ resolve }, index) => resolve(start + index));
      } catch (error) {
        this.#failed = error;
        for (const { reject } of [...group, ...this.#waiting.splice(0)]) reject(error);
      }
    }
    this.#writing = false;
  }

  #take() {
    let count = 0;
    let characters = 0;
    for (const { record } of this.#waiting) {
      if (count > 0 && (count >= maxRecords || characters + record.body.length > maxCharacters)) break;
      characters += record.body.length;
      count++;
    }
    return this.#waiting.splice(0, count);
  }
}
