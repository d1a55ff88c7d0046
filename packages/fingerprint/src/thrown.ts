/** The type of a thrown value that is not an Error: a string, or an object as JSON. */
export function thrownType(name: unknown, message: string, stack: string): string | undefined {
  const unnamed = name === undefined || name === null || name === '';
  if (!unnamed || stack !== '') return undefined;
  const text = message.trimStart();
  if (text.startsWith('{') || text.startsWith('[')) return 'Object';
  return 'String';
}
