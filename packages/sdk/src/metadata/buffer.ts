import type { MetadataOperation, maxMetadataBytes as contractLimit } from '@millrace/contract';
import { applyInPlace, applyOperations, refusedKey, type Metadata } from '@millrace/contract/metadata';
import type { MetadataTarget, RunMetadata } from '../run-scope.ts';
import { operationAsJson } from './operation-as-json.ts';

const maxBytes: typeof contractLimit = 262_144;
/** How long changes are buffered, in milliseconds. */
const waitMs = 1_000;
/** Maximum number of changes in a request; more are sent without waiting. */
const maxAtOnce = 1_000;

/** Changes in one request. */
export type MetadataChanges = Partial<Record<MetadataTarget, MetadataOperation[]>>;

/** The server permanently rejected the changes, so a retry would also fail. */
export class MetadataRefused extends Error {
  override readonly name = 'MetadataRefused';
}

export interface MetadataBufferOptions {
  /** The run's metadata at the start of the attempt, as JSON text. */
  readonly initial: string | null;
  /** Sends changes and returns the run's new metadata. Throws a MetadataRefused if the server rejects the changes. */
  readonly send: (changes: MetadataChanges) => Promise<Metadata>;
  /** Called with a message about lost changes. */
  readonly warn: (sentence: string) => void;
}

const sizeOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value) ?? '').length;

/** The metadata of an attempt's run, which is changed locally immediately and sent to the server in batches. */
export class MetadataBuffer implements RunMetadata {
  readonly #options: MetadataBufferOptions;
  #current: Metadata;
  /** An upper bound of the length. */
  #bytes: number;
  #waiting: { readonly target: MetadataTarget; readonly operation: MetadataOperation }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<boolean> | undefined;

  constructor(options: MetadataBufferOptions) {
    this.#options = options;
    this.#current = parsed(options.initial);
    this.#bytes = sizeOf(this.#current);
  }

  current(): Metadata {
    return structuredClone(this.#current);
  }

  change(target: MetadataTarget, input: MetadataOperation): void {
    const operation = operationAsJson(input);
    const refused = operation.type === 'update' ? undefined : refusedKey(operation.key);
    if (refused !== undefined) throw new TypeError(`metadata: ${refused}.`);
    if (target === 'operations') this.#apply(operation);
    this.#waiting.push({ target, operation });
    if (this.#waiting.length >= maxAtOnce) void this.#send();
    else this.#later();
  }

  /** Whether there are unsent changes. */
  get isPending(): boolean {
    return this.#sending !== undefined || this.#waiting.length > 0;
  }

  async flush(): Promise<void> {
    while (this.#sending || this.#waiting.length > 0) {
      // Pending changes are not part of a request in flight.
      if (this.#sending) await this.#sending;
      // If the server cannot be reached, the rest is sent later.
      else if (!(await this.#send())) return;
    }
  }

  /** At the attempt's end, changes that cannot be sent now are lost. */
  async end(): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    const lost = this.#waiting.length;
    if (lost > 0) this.#options.warn(`${lost} metadata changes were lost: the server could not be reached.`);
    this.#waiting = [];
  }

  #apply(operation: MetadataOperation): void {
    // Recompute the length only if the bound is exceeded, so that appending to a list stays cheap.
    this.#bytes += sizeOf(operation);
    if (this.#bytes <= maxBytes) {
      this.#current = applyInPlace(this.#current, operation);
      return;
    }
    const changed = applyOperations(this.#current, [operation]);
    const bytes = sizeOf(changed);
    if (bytes > maxBytes) {
      this.#bytes = sizeOf(this.#current);
      throw new RangeError(
        `metadata: the limit is ${maxBytes} bytes as JSON; with this change it would have ${bytes}.`,
      );
    }
    this.#current = changed;
    this.#bytes = bytes;
  }

  #later(): void {
    if (this.#timer !== undefined || this.#sending) return;
    this.#timer = setTimeout(() => void this.#send(), waitMs);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** One request at a time, so that changes arrive in order. Resolves to whether the server replied. Never rejects. */
  #send(): Promise<boolean> {
    this.#sending ??= this.#sendNow().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0) this.#later();
    });
    return this.#sending;
  }

  /**
   * Sends all changes in one request; if that is rejected, one request per target, so that a parent whose metadata is full does not affect
   * the run's own.
   */
  async #sendAll(changes: MetadataChanges): Promise<Metadata> {
    const targets = Object.entries(changes) as [MetadataTarget, MetadataOperation[]][];
    try {
      return await this.#options.send(changes);
    } catch (error) {
      if (!(error instanceof MetadataRefused) || targets.length === 1) throw error;
    }
    let stored: Metadata | undefined;
    let refusal: unknown;
    for (const [target, operations] of targets) {
      try {
        stored = await this.#options.send({ [target]: operations });
      } catch (error) {
        refusal = error;
        if (!(error instanceof MetadataRefused)) throw error;
        this.#options.warn(`Metadata changes were rejected: ${error.message}`);
      }
    }
    if (stored === undefined) throw refusal;
    return stored;
  }

  async #sendNow(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#waiting.splice(0, maxAtOnce);
    if (batch.length === 0) return true;
    const changes: MetadataChanges = {};
    for (const { target, operation } of batch) (changes[target] ??= []).push(operation);
    try {
      const stored = await this.#sendAll(changes);
      // Includes changes by others, such as a child run or the dashboard.
      this.#current = applyOperations(
        stored,
        this.#waiting.flatMap(({ target, operation }) => (target === 'operations' ? [operation] : [])),
      );
      this.#bytes = sizeOf(this.#current);
    } catch (error) {
      if (!(error instanceof MetadataRefused)) {
        this.#waiting.unshift(...batch);
        return false;
      }
      this.#options.warn(`Metadata changes were rejected: ${error.message}`);
    }
    return true;
  }
}

/** Triggers may store any text as metadata; anything but an object is ignored. */
function parsed(text: string | null): Metadata {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Metadata) : {};
  } catch {
    return {};
  }
}
