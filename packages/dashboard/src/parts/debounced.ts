import { useEffect, useState } from 'react';

const pauseMs = 200;

/**
 * A text that is typed, once it has not changed for a moment: each letter would be a request of its own.
 *
 * @example
 * const search = useDebounced(text);
 */
export function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
