/** By characters, as people count them. */
const backwards = (word: string): string =>
  Array.from(new Intl.Segmenter().segment(word), ({ segment }) => segment)
    .toReversed()
    .join('');

/** The answer of the task, in small parts as a model produces them; always the same. */
export function answerTo(text: string): string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const sentences = [
    `You wrote ${words.length === 1 ? 'one word' : `${words.length} words`}.`,
    ...words.map((word) => `“${word}” backwards is “${backwards(word)}”.`),
    'I count, to show that nothing is lost:',
    `${Array.from({ length: 40 }, (_, n) => n + 1).join(', ')}. Done.`,
  ];
  return sentences.join(' ').match(/.{1,4}/gsu) ?? [];
}
