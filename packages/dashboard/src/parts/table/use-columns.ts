import { useSearchTexts } from '../search.ts';
import { shownColumns, type Column } from './column.ts';

/** The columns in the address; otherwise those stored in this browser; otherwise those of the page. */
export function useColumns<R>(
  table: string,
  columns: readonly Column<R>[],
): {
  readonly visible: readonly Column<R>[];
  readonly toggle: (id: string) => void;
  readonly reset: () => void;
  readonly isChanged: boolean;
} {
  const [{ columns: inAddress }, setSearch] = useSearchTexts();
  const stored = `millrace.columns.${table}`;
  const chosen = inAddress ?? localStorage.getItem(stored) ?? undefined;
  const visible = shownColumns(columns, chosen);
  return {
    visible,
    isChanged: chosen !== undefined,
    toggle: (id) => {
      const ids = new Set(visible.map((column) => column.id));
      if (!ids.delete(id)) ids.add(id);
      const text = columns.flatMap((column) => (ids.has(column.id) ? [column.id] : [])).join(',');
      localStorage.setItem(stored, text);
      setSearch({ columns: text });
    },
    reset: () => {
      localStorage.removeItem(stored);
      setSearch({ columns: undefined });
    },
  };
}
