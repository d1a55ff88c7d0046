import { protect, replacing } from './rule.ts';
import type { Rule } from './rule.ts';
import { isErrorWord } from './vocabulary.ts';

/** Extensions of files created by people and programs. */
export const extensions =
  'csv|tsv|json|heic|heif|tiff?|bmp|ico|psd|dcm|rtf|od[ts]|epub|rar|7z|bz2|xz|jar|exe|dmg|iso|bin|dat|mkv|webm|avi|m4a|ogg|flac|woff2?|ttf|otf|css|sql|db|lock|conf|ini|toml|properties|p12|pfx|key|ndjson|jsonl|pdf|png|jpe?g|gif|webp|svg|txt|xml|xlsx?|docx?|pptx?|zip|gz|tgz|tar|html?|ya?ml|md|log|mp[34]|mov|wav|parquet|avro|sqlite|tmp|bak|ics|eml|pem|crt';

const quotedFile = /^'([^'\n]{0,600})'/;
const kindOfFile = new RegExp(`\\.(?:${extensions})$`);

// Extensions of files that belong to a program rather than to its data.
const ofProgram =
  /^\.(?:json|ya?ml|toml|ini|conf|properties|lock|key|pem|crt|p12|sql|css|html?|md|sqlite|db)$/;

/**
 * The kind of a file: settings, or an upload. The extension is kept, as is the name of a program's file if it consists of known words.
 * Other names are data. Folders depend on the machine.
 */
function kindOf(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const extension = kindOfFile.exec(name)?.[0] ?? '';
  if (extension === '') return '';
  const stem = name.slice(0, -extension.length);
  const written =
    ofProgram.test(extension) && stem.length <= 40 && stem.split(/[-_.]/).every((word) => isErrorWord(word));
  return written ? `/${stem}${extension}` : extension;
}

/** `ENOENT: no such file or directory, open '/srv/app/settings.json'`. */
export const fileErrors: Rule = replacing(
  'fs path',
  /^(E[A-Z]{3,15}: [^,\n]{1,100}, \w{1,20}) ([^\n]{0,1300})[^]*$/,
  (_all = '', head = '', paths = '') => `${head} <path>${protect(kindOf(quotedFile.exec(paths)?.[1] ?? ''))}`,
);

// Formats that are read row by row or line by line. A format with several names has a single reader.
const rowed = 'csv|tsv|psv|json|ndjson|jsonl|xml|ya?ml|toml|xlsx?|xlsm|ods|parquet|avro|txt|edi|ics|vcf|dbf';
const readers: Record<string, string> = { yml: 'yaml', jsonl: 'ndjson', xlsx: 'xls', xlsm: 'xls' };
const position = /\b(?:row|line|record|entry|cell|column|sheet|element)s?\b/i;

/**
 * A message about a position in a file, such as a row, comes from the reader of one format. The format is kept, because a bad row in a CSV
 * file is a different bug from a bad row in a spreadsheet.
 */
export const fileOfRows: Rule = replacing(
  'file with a place in it',
  new RegExp(
    `(["'\`])[^"'\`\\n]{0,200}\\.(${rowed})\\1|(?<![^\\s"'\`<>()=])[^\\s"'\`<>()=]{1,300}\\.(${rowed})(?![\\w(.-])(?:\\?[^\\s"'\`<>()]{0,200})?`,
    'gi',
  ),
  (_all = '', _quote = '', quoted = '', bare = '') => {
    const extension = (quoted || bare).toLowerCase();
    return `<path>${protect(`.${readers[extension] ?? extension}`)}`;
  },
  (text) => text.includes('.') && position.test(text),
);
