import { casesOf, heading, repeatedAt, valuesByKey } from './cases.ts';
import type { Entry, Values, Word } from './table.ts';

export function fishScript(entries: readonly Entry[], version: string): string {
  const assignments = (found: Entry): string =>
    [
      ...list('subcommands', found.subcommands),
      ...list('flags', found.options),
      ...(found.valued.length > 0 ? [`set valued ${found.valued.join(' ')}`] : []),
      ...(found.isVariadic ? [`set repeated ${repeatedAt(found)}`] : []),
    ].join('; ');
  const values = (found: Values): string =>
    typeof found === 'string' ? `set path_kind ${found}` : list('found', found).join('; ');
  return `${heading('fish', version)}

function __millrace_place --no-scope-shadowing
    set subcommands
    set flags
    set valued
    set repeated
    switch "$argv[1]"
${branches(entries.map((found) => [found.path, assignments(found)] as const))}
    end
end

function __millrace_values --no-scope-shadowing
    switch "$argv[1]"
${branches(valuesByKey(entries).map(([key, found]) => [key, values(found)] as const))}
    end
end

${walk}
complete -c millrace -e
complete -c millrace -f -a '(__millrace)'
`;
}

/** A text in single quotes, in which fish reads a backslash as an escape. */
const quoted = (text: string): string =>
  `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;

/** A tab separates a word from its description. */
const list = (name: string, words: readonly Word[]): string[] =>
  words.length === 0
    ? []
    : [
        `set ${name} ${words
          .map(({ word, description }) =>
            description === '' ? quoted(word) : `${quoted(word)}\\t${quoted(description)}`,
          )
          .join(' ')}`,
      ];

const branches = (cases: readonly (readonly [string, string])[]): string =>
  casesOf(cases)
    .map(([keys, body]) => `        case ${keys.map(quoted).join(' ')}\n            ${body}`)
    .join('\n');

const walk = `function __millrace
    set -l current (commandline -ct)
    set -l before (commandline -opc)
    set -e before[1]
    set -l place ''
    set -l option ''
    set -l prefix ''
    set -l argument 0
    set -l subcommands
    set -l flags
    set -l valued
    set -l repeated
    set -l found
    set -l path_kind
    __millrace_place ''
    for word in $before
        if test -n "$option"
            set option ''
        else if contains -- $word $valued
            set option $word
        else if string match -q -- "$word"\\t'*' $subcommands
            set place (string trim -- "$place $word")
            __millrace_place "$place"
        else if not string match -q -- '-*' $word
            set argument (math $argument + 1)
        end
    end
    if test -z "$option"; and string match -q -- '--*=*' "$current"
        set option (string split -m 1 = -- $current)[1]
        set prefix "$option="
        set current (string split -m 1 = -- $current)[2]
    end
    if test -n "$option"
        __millrace_values "$place $option"
    else if string match -q -- '-*' "$current"
        set found $flags
    else if set -q subcommands[1]
        set found $subcommands
    else
        if test -n "$repeated"; and test $argument -gt "$repeated"
            set argument $repeated
        end
        __millrace_values "$place $argument"
    end
    switch "$path_kind"
        case file
            __fish_complete_path $current
        case folder
            __fish_complete_directories $current
        case '*'
            for word in $found
                echo -- $prefix$word
            end
    end
end
`;
