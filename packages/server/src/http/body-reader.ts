import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { defaultBodyMembers, type OperationDeclaration } from '@millrace/contract';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { AccessWatcher } from '../auth/watch-access.ts';
import { inTurns } from '../json/parts.ts';
import { largeBody, Turns } from '../json/turns.ts';
import { unauthorized } from '../problem.ts';
import { isForm, readForm } from './form.ts';
import { fitting, readBody, readBodyParts } from './validate.ts';

/** Returns a function that reads the body of a request as declared by an operation. Throws a 400 Problem for an invalid body. */
export function bodyReader(
  declaration: OperationDeclaration,
  live: Pick<AccessWatcher, 'watch'>,
): (raw: FastifyRequest) => unknown {
  const { body, bodyForm, bodyOptional, checksTexts, bodyText = false, bodyStream } = declaration;
  const { maxMembers = defaultBodyMembers, maxEscapes } = declaration;
  const rules = { bodyOptional, checksTexts, limits: { maxMembers, maxEscapes } };

  function read(schema: z.ZodType, raw: FastifyRequest): unknown {
    if (raw.body instanceof Buffer) return readLarge(schema, raw.body);
    const text = raw.body as string | undefined;
    if (bodyText) return fitting(schema, text ?? '');
    const type = raw.headers['content-type'];
    return bodyForm !== undefined && isForm(type)
      ? readForm(text, type, bodyForm).then((members) => fitting(schema, members))
      : readBody(schema, text, rules);
  }

  /** The handler gets a separate turn. */
  async function readLarge(schema: z.ZodType, bytes: Buffer): Promise<unknown> {
    const turns = new Turns();
    const value = await inTurns(readBodyParts(schema, bytes, rules), turns);
    await turns.next();
    return value;
  }

  async function beforeTurn(value: unknown): Promise<unknown> {
    const done = await value;
    await setImmediate();
    return done;
  }

  return (raw) => {
    if (bodyStream) return partsOf(raw, live);
    if (body === undefined) return undefined;
    const value = read(body, raw);
    const isLarge = typeof raw.body === 'string' && raw.body.length > largeBody;
    return isLarge ? beforeTurn(value) : value;
  };
}

/** Streams the body for as long as the caller's credential is valid, because an upload may take minutes. */
async function* partsOf(
  { body, principal }: FastifyRequest,
  live: Pick<AccessWatcher, 'watch'>,
): AsyncGenerator<Buffer> {
  let ended = false;
  const release = principal ? live.watch(principal, () => (ended = true)) : () => {};
  try {
    // Stopping early must not close the connection, because the response has yet to be sent.
    for await (const part of (body as Readable).iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      if (ended) throw unauthorized('The credential of this request has ended');
      yield part;
    }
  } finally {
    release();
  }
}
