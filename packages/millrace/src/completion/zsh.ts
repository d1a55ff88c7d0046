import { casesOf, heading, quoted, repeatedAt, valuesByKey } from './cases.ts';
import type { Entry, Values, Word } from './table.ts';

/** Both for a file in a folder of `fpath` and for `source`. */
export function zshScript(entries: readonly Entry[], version: string): string {
  const assignments = (found: Entry): string =>
    [
      ...list('subcommands', found.subcommands),
      ...list('flags', found.options),
      ...(found.valued.length > 0 ? [`valued=(${found.valued.join(' ')})`] : []),
      ...(found.isVariadic ? [`repeated=${repeatedAt(found)}`] : []),
    ].join(' ');
  const values = (found: Values): string =>
    typeof found === 'string' ? `path_kind=${found}` : list('found', found).join(' ');
  return `#compdef millrace
${heading('zsh', version)}

_millrace_place() {
  subcommands=() flags=() valued=() repeated=
  case "$1" in
${branches(entries.map((found) => [found.path, assignments(found)] as const))}
  esac
}

_millrace_values() {
  found=() path_kind=
  case "$1" in
${branches(valuesByKey(entries).map(([key, found]) => [key, values(found)] as const))}
  esac
}

${walk}`;
}

/** Items of `_describe`, in which a colon separates the word from its description. */
const list = (name: string, words: readonly Word[]): string[] =>
  words.length === 0
    ? []
    : [
        `${name}=(${words
          .map(({ word, description }) => {
            const escaped = word.replaceAll(':', String.raw`\:`);
            return quoted(description === '' ? escaped : `${escaped}:${description}`);
          })
          .join(' ')})`,
      ];

const branches = (cases: readonly (readonly [string, string])[]): string =>
  casesOf(cases)
    .map(([keys, body]) => `    (${keys.map(quoted).join('|')}) ${body} ;;`)
    .join('\n');

const walk = `_millrace() {
  local at word place= option= repeated= path_kind= argument=0
  local -a subcommands flags valued found
  _millrace_place ''
  for ((at = 2; at < CURRENT; at++)); do
    word=\${words[at]}
    if [[ -n $option ]]; then
      option=
    elif (( \${valued[(Ie)$word]} )); then
      option=$word
    elif [[ -n $word && -n \${subcommands[(r)\${word}:*]} ]]; then
      place=\${place:+$place }$word
      _millrace_place "$place"
    elif [[ $word != -* ]]; then
      (( argument++ ))
    fi
  done
  if [[ -z $option && $PREFIX == --*=* ]]; then
    option=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $option ]]; then
    _millrace_values "$place $option"
  elif [[ $PREFIX == -* ]]; then
    found=("\${flags[@]}")
  elif (( \${#subcommands} )); then
    found=("\${subcommands[@]}")
  else
    if [[ -n $repeated ]] && (( argument > repeated )); then argument=$repeated; fi
    _millrace_values "$place $argument"
  fi
  case "$path_kind" in
    (file) _files ;;
    (folder) _files -/ ;;
    (*) _describe -t millrace millrace found ;;
  esac
}

# Not when the file is read by \`source\`.
if [[ \${funcstack[1]} == _millrace ]]; then _millrace "$@"; else compdef _millrace millrace; fi
`;
