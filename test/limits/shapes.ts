/** JSON texts of a given size that are expensive to read. */

export const times = (text: string, bytes: number): string =>
  text.repeat(Math.max(1, Math.floor(bytes / text.length)));
export const numbered = (bytes: number, item: (index: number) => string): string => {
  const parts: string[] = [];
  for (let index = 0, size = 0; size < bytes; index++) {
    const part = item(index);
    parts.push(part);
    size += part.length + 1;
  }
  return parts.join(',');
};

/** JSON values of approximately a given size. Unless small, those of the first half are rejected for their depth or number of members. */
export const shapes: Readonly<Record<string, (bytes: number) => string>> = {
  deep: (bytes) => times('[', bytes),
  nested: (bytes) => `[${numbered(bytes, () => '['.repeat(900) + ']'.repeat(900))}]`,
  names: (bytes) => `{${numbered(bytes, (index) => `"k${index}":1`)}}`,
  objects: (bytes) => `[${numbered(bytes, () => '{}')}]`,
  // The maximum number.
  fewerNames: (bytes) => `{${numbered(Math.min(bytes, 480_000), (index) => `"k${index}":1`)}}`,
  fewerIntegers: (bytes) => `{${numbered(Math.min(bytes, 480_000), (index) => `"${index * 7_919}":1`)}}`,
  fewerObjects: (bytes) => `[${numbered(Math.min(bytes, 240_000), (index) => `{"${index % 97}":1}`)}]`,
  fewerNumbers: (bytes) => `[${numbered(Math.min(bytes, 380_000), () => '0')}]`,
  text: (bytes) => JSON.stringify(times('x y ', bytes - 10)),
  quotes: (bytes) => JSON.stringify(times('"', bytes / 2 - 10)),
  lines: (bytes) => JSON.stringify(times('\n', bytes / 2 - 10)),
  wide: (bytes) => JSON.stringify(times('€', bytes / 3 - 10)),
  name: (bytes) => `{"${times('n', bytes - 20)}":1}`,
};
