/** A value after a round trip through JSON, because the published SDK sends metadata and stream chunks that way. */
export function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
