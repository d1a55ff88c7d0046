import natural from 'natural';

export default async () => [
  natural.PorterStemmer.stem('running'),
  new natural.WordTokenizer().tokenize('a b'),
];
