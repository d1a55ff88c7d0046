import { useEffect, useState } from 'react';
import { isContainer, type Json } from './rows.ts';

export type JsonPath = readonly (string | number)[];

export const maxFound = 500;
const maxVisited = 200_000;
const visitedAtOnce = 500;

const membersOf = (value: object): IterableIterator<[string | number, Json]> =>
  Array.isArray(value) ? value.entries() : Object.entries(value).values();

/**
 * Returns the first paths, in order, of members whose name or value contains the text, case-insensitive: at most 500, among the first 200,000
 * members. Yields from time to time, so that a search of megabytes can be paused or given up.
 */
export function* searchJson(root: Json, text: string): Generator<void, readonly JsonPath[], void> {
  const needle = text.toLowerCase();
  const contains = (part: unknown): boolean => String(part).toLowerCase().includes(needle);
  if (!isContainer(root)) return contains(root) ? [[]] : [];
  const found: JsonPath[] = [];
  const open = [membersOf(root)];
  const path: (string | number)[] = [];
  for (let visited = 1; visited <= maxVisited && found.length < maxFound;) {
    const next = open.at(-1)?.next();
    if (!next) break;
    if (next.done) {
      open.pop();
      continue;
    }
    const [key, value] = next.value;
    path[open.length - 1] = key;
    if ((typeof key === 'string' && contains(key)) || (!isContainer(value) && contains(value)))
      found.push(path.slice(0, open.length));
    if (isContainer(value)) open.push(membersOf(value));
    if (visited++ % visitedAtOnce === 0) yield;
  }
  return found;
}

interface Searched {
  readonly text: string;
  readonly found: readonly JsonPath[];
}

const sliceMs = 15;

/** The result of the last search that ended. The page stays responsive while 10 MB are searched: a search runs in slices of 15 ms. */
export function useJsonSearch(value: Json, text: string): Searched {
  const [searched, setSearched] = useState<Searched>({ text: '', found: [] });
  useEffect(() => {
    if (text === '') {
      setSearched({ text, found: [] });
      return;
    }
    const search = searchJson(value, text);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const slice = (): void => {
      const end = performance.now() + sliceMs;
      let step = search.next();
      while (!step.done && performance.now() < end) step = search.next();
      if (step.done) setSearched({ text, found: step.value });
      else timer = setTimeout(slice);
    };
    slice();
    return () => clearTimeout(timer);
  }, [value, text]);
  return searched;
}
