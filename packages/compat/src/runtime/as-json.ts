/** A value as JSON brings it back, because the published SDK sends metadata and chunks of streams that way. */
export function asJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}
