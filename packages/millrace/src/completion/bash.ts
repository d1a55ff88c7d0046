import { casesOf, heading, names, quoted, repeatedAt, valuesByKey } from './cases.ts';
import type { Entry } from './table.ts';

/** For bash 3.2 and later, which macOS has. */
export function bashScript(entries: readonly Entry[], version: string): string {
  const assign = (name: string, value: string): string => (value === '' ? '' : `${name}=${quoted(value)} `);
  const assignments = (found: Entry): string =>
    assign('subcommands', names(found.subcommands)) +
    assign('flags', names(found.options)) +
    assign('valued', found.valued.join(' ')) +
    assign('repeated', repeatedAt(found));
  const values = valuesByKey(entries).map(
    ([key, found]) =>
      [key, assign('found', typeof found === 'string' ? `<${found}>` : names(found))] as const,
  );
  return `${heading('bash', version)}

_millrace_place() {
  subcommands='' flags='' valued='' repeated=''
  case "$1" in
${branches(entries.map((found) => [found.path, assignments(found)] as const))}
  esac
}

_millrace_values() {
  found=''
  case "$1" in
${branches(values)}
  esac
}

${walk}
complete -F _millrace millrace
`;
}

const branches = (cases: readonly (readonly [string, string])[]): string =>
  casesOf(cases)
    .map(([keys, body]) => `    ${keys.map(quoted).join(' | ')}) ${body.trim()} ;;`)
    .join('\n');

/** bash splits `--status=FAILED` into three words, unless `=` was removed from COMP_WORDBREAKS. */
const walk = `_millrace() {
  local current=\${COMP_WORDS[COMP_CWORD]} path='' option='' prefix='' word at argument=0
  local subcommands flags valued repeated found=''
  _millrace_place ''
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -n $option ]]; then
      [[ $word == '=' ]] || option=''
    elif [[ " $valued " == *" $word "* ]]; then
      option=$word
    elif [[ " $subcommands " == *" $word "* ]]; then
      path=\${path:+$path }$word
      _millrace_place "$path"
    elif [[ $word != -* ]]; then
      ((argument++))
    fi
  done
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $current == --*=* ]]; then
    option=\${current%%=*} prefix=\${current%%=*}= current=\${current#*=}
  fi
  if [[ -n $option ]]; then
    _millrace_values "$path $option"
  elif [[ $current == -* ]]; then
    found=$flags
  elif [[ -n $subcommands ]]; then
    found=$subcommands
  else
    if [[ -n $repeated ]] && ((argument > repeated)); then argument=$repeated; fi
    _millrace_values "$path $argument"
  fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$prefix$word"); done < <(
    case "$found" in
      '<file>') compgen -f -- "$current" ;;
      '<folder>') compgen -d -- "$current" ;;
      *) compgen -W "$found" -- "$current" ;;
    esac
  )
  # Adds a slash to folders. bash 3.2 does not have it.
  if [[ $found == '<'*'>' ]]; then compopt -o filenames 2>/dev/null; fi
}
`;
