/** Where verified blobs are kept instead of the database. The keys are below the prefix of the store. */
export interface BlobStore {
  /** For people: `s3://bucket/prefix`. */
  readonly name: string;
  /** Stores this many bytes, whose SHA-256 is `digest`. A store that supports it refuses other bytes. */
  put(key: string, size: number, digest: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Resolves when the store has begun to answer. */
  read(key: string, start: number, size: number): Promise<AsyncIterable<Buffer>>;
  has(key: string): Promise<boolean>;
  /** Deleting what is not there does nothing. */
  delete(key: string): Promise<void>;
}

/** The store cannot be used as it is configured. The message says why and what to do; the server does not start. */
export class StoreRefused extends Error {
  override name = 'StoreRefused';
}

/** The store is away, or did not do what was asked. */
export class StoreFailed extends Error {
  override name = 'StoreFailed';
}
