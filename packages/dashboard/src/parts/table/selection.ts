import { useState } from 'react';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** Chosen are not only these, but all that the filter finds. */
  readonly isAll: boolean;
  readonly toggle: (id: string) => void;
  /** Chooses what lies between the row that was toggled last and this one. */
  readonly toggleRange: (id: string, rows: readonly string[]) => void;
  readonly chooseLoaded: (ids: readonly string[]) => void;
  readonly chooseAll: () => void;
  readonly clear: () => void;
}

interface Chosen {
  readonly ids: ReadonlySet<string>;
  readonly isAll: boolean;
  readonly last: string | undefined;
}

const none: Chosen = { ids: new Set(), isAll: false, last: undefined };

/** Ids from `from` to `to`, whichever comes first; `to` alone if `from` is not there. */
export function between(rows: readonly string[], from: string | undefined, to: string): readonly string[] {
  const [a, b] = [from === undefined ? -1 : rows.indexOf(from), rows.indexOf(to)];
  return a === -1 || b === -1 ? [to] : rows.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** Which rows are chosen. It is by id: rows that come and go change nothing. */
export function useSelection(): Selection {
  const [chosen, setChosen] = useState<Chosen>(none);
  return {
    ids: chosen.ids,
    isAll: chosen.isAll,
    toggle: (id) =>
      setChosen(({ ids }) => {
        const next = new Set(ids);
        if (!next.delete(id)) next.add(id);
        return { ids: next, isAll: false, last: id };
      }),
    toggleRange: (id, rows) =>
      setChosen(({ ids, last }) => ({
        ids: new Set([...ids, ...between(rows, last, id)]),
        isAll: false,
        last: id,
      })),
    chooseLoaded: (ids) => setChosen({ ids: new Set(ids), isAll: false, last: undefined }),
    chooseAll: () => setChosen((before) => ({ ...before, isAll: true })),
    clear: () => setChosen(none),
  };
}
