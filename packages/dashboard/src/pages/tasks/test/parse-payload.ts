/** The entered payload; undefined for a blank text. An error names the line. */
export function parsePayload(
  text: string,
): { readonly value: unknown; readonly error?: undefined } | { readonly error: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    const { message } = error as Error;
    const position = /position (\d+)/.exec(message)?.[1];
    if (position === undefined || /line \d+/.test(message)) return { error: `This is not JSON: ${message}` };
    const before = text.slice(0, Number(position)).split('\n');
    return {
      error: `This is not JSON: ${message} (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`,
    };
  }
}
