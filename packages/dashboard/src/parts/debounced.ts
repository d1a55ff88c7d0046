import { useEffect, useState } from 'react';

const pauseMs = 200;

/**
 * A typed text, once it has not changed for a moment: otherwise each letter would send a request.
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
