import { createHash } from 'node:crypto';
import { tryParse } from '../../json/foreign.ts';
import { facet } from './facet.ts';

/** A path that an environment has declared, such as `metadata.customer.id`. */
export interface RunPath {
  readonly id: number;
  readonly path: string;
}

/** The data of a run from which facets are derived. */
export interface Carried {
  readonly metadata: string | null;
  readonly payload: string | null;
  /** The payload type; null for JSON. */
  readonly payloadType: string | null;
}

/** Longer values are identified by their hash. */
const maxShown = 128;

/** The facet of a value: `path:7:=42`. A number and its text are the same. */
export function pathFacet(id: number, value: string | number | boolean): string {
  const text = String(value).replaceAll('\0', '').toWellFormed();
  const short = text.length <= maxShown ? `=${text}` : `#${createHash('sha256').update(text).digest('hex')}`;
  return facet('path', `${id}:${short}`);
}

/** The facets of a run: one for each path that leads to a text, a number or a boolean. */
export function pathFacets(paths: readonly RunPath[], carried: Carried): string[] {
  const facets: string[] = [];
  const sources = new Map<string, unknown>();
  for (const { id, path } of paths) {
    const [source = '', ...names] = path.split('.');
    if (!sources.has(source)) sources.set(source, contentOf(source, carried));
    let value = sources.get(source);
    for (const name of names) value = memberOf(value, name);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      facets.push(pathFacet(id, value));
  }
  return facets;
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

function contentOf(source: string, { metadata, payload, payloadType }: Carried): unknown {
  if (source === 'metadata') return parsed(metadata);
  if (payloadType === null) return parsed(payload);
  // Superjson's notes are next to the values, which are in `json`.
  return payloadType === 'application/super+json' ? memberOf(parsed(payload), 'json') : undefined;
}

const parsed = (text: string | null): unknown => (text === null ? undefined : tryParse(text));
