import { useState } from 'react';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** Whether all filter matches are selected, not only these. */
  readonly isAll: boolean;
  readonly toggle: (id: string) => void;
  /** Selects the rows between the last toggled row and this one. */
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

/** Ids from `from` to `to`, in either order; only `to` if `from` does not exist. */
export function between(rows: readonly string[], from: string | undefined, to: string): readonly string[] {
  const [a, b] = [from === undefined ? -1 : rows.indexOf(from), rows.indexOf(to)];
  return a === -1 || b === -1 ? [to] : rows.slice(Math.min(a, b), Math.max(a, b) + 1);
}

/** The selected rows. By id, so it is not affected by rows that come and go. */
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
