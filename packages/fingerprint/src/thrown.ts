/** What was thrown when it was no Error: a string, or an object written as JSON. */
export function thrownType(name: unknown, message: string, stack: string): string | undefined {
  const unnamed = name === undefined || name === null || name === '';
  if (!unnamed || stack !== '') return undefined;
  const text = message.trimStart();
  if (text.startsWith('{') || text.startsWith('[')) return 'Object';
  return 'String';
}
