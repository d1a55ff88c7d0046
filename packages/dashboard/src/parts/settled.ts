import { useEffect, useState } from 'react';

const settledMs = 200;

/**
 * A text that is typed, once it has not changed for a moment: each letter would be a request of its own.
 *
 * @example
 * const search = useSettled(text);
 */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settledMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
