// Generic names, which in a bundle may belong to a library. The caller is more specific.
const vagueName =
  /^(?:_|parse$|validate$|test$|hash$|request$|fetch$|send$|get$|post$|put$|patch$|delete$|del$|query$|execute$|exec$|connect$|close$|open$|read$|write$|emit$|next$|nextOnce$|step$|then$|catch$|finally$|resolve$|reject$|call$|apply$|invoke$|run$|handle$|handler$|process$|compile$|create$|init$|start$|stop$|end$|flush$|push$|add$|set$|use$|on$|once$|emitError$|error$|err$|done$|cb$|callback$|decode$|encode$|format$|load$|save$|wrapped$|wrapper$|wrap$|inner$|fn$|func$|method$|value$|proxy$|dispatch$|perform$|consume$|transform$|verify$|sign$|from$|of$|assert$|attempt$|on[Ee]rror$|finish\w{1,30}$|invalid$|make$|build$|sql$)/;
const helperName =
  /^(?:assert|invariant|ensure|must|require|expect|throw|fail|raise|reject|abort|panic|check(?:Status|Response|Ok)?$|unwrap|handle(?:Error|Response)|with[A-Z]|retry|wrap|request$|fetch(?:Json|OrFail|OrThrow)?$|send$|call$|query$|execute$|exec$|parse(?:Response|Json)?$|validate$|get$|post$|put$|patch$|delete$|del$|find(?:One|ById|All|Many|First)?$|getById$|load$|read$|lookup$|insert$|update$|save$|create$|remove$|upsert$|http[A-Z]?)|(?:Error|Exception|OrThrow|OrFail)$/;
const entryName = /^(?:run|handler|main|default)$/;
const executorName = /\.(?:execute|run|perform|handle|process|invoke)$/;

// A message with a status or a URL comes from a function that sends requests, regardless of its name.
const answered = /\b[1-5]\d\d\b|<url>/;

// Names used by both apps and libraries. They count if the task calls them itself.
const plainName =
  /^(?:parse|validate|test|hash|request|fetch|send|get|post|put|patch|delete|query|execute|connect|close|open|read|write|process|compile|create|init|start|stop|flush|push|add|set|use|decode|encode|format|load|save|transform|verify|sign|build|make|consume|perform|dispatch)$/;
// A lookup serves several callers. Not finding something is a separate bug for each of them.
const lookup =
  /^No (?:such )?\w+|^Unknown |\b(?:not found|does not exist|no such|is missing|not registered|not known|is unknown|could not be found)\b/;
const ofDatabase = /column|relation|table|function/i;

// A function for one file format, such as `importCsv`, `readJSON` and `XlsxReader.rows`.
const formats =
  'csv tsv json ndjson jsonl xml yaml toml xls xlsx excel ods parquet avro edi ics vcf pdf html markdown'.split(
    ' ',
  );
const formatted = new RegExp(
  formats
    .flatMap((format) => {
      const capitalised = format.charAt(0).toUpperCase() + format.slice(1);
      return [`(?:^|_|\\.)${format}(?![a-z])`, `${capitalised}(?![a-z])`, `${format.toUpperCase()}(?![a-z])`];
    })
    .join('|'),
);
const maxCallers = 3;

/**
 * The nearest caller that handles one format, as a list of at most one item. A check shared by the readers of several formats, such as a row
 * check, fails differently for each of them.
 */
function formatOf(callers: string[]): string[] {
  const names = callers.slice(0, maxCallers).map(inSource);
  const entry = names.findIndex((name) => entryName.test(name));
  const found = (entry < 0 ? names : names.slice(0, entry)).find(
    (name) => formatted.test(name) && !helperName.test(name.slice(name.lastIndexOf('.') + 1)),
  );
  return found === undefined ? [] : [found];
}

/** If two modules have a function with the same name, a bundler numbers the second: `money$1`. */
const inSource = (name: string): string => name.replace(/\$\d{1,3}$/, '');

/**
 * The function that the error was thrown in, with its caller if several functions throw through it: a helper, a method used by other
 * methods of its class, a client, or a lookup. A plain helper is replaced by its caller, because builds inline it or move it among the
 * libraries.
 */
export function throwSite(app: string[], type: string, message: string): string {
  let plain = '';
  for (const [at, written] of app.entries()) {
    const name = inSource(written);
    if (entryName.test(name)) return plain || 'run';
    plain = '';
    if (vagueName.test(name) || /\.(?:_|emit$|on[Ee]rror$)/.test(name)) {
      if (plainName.test(name)) plain = name;
      continue;
    }
    const dot = name.indexOf('.') + 1;
    // A static function of the error's own class created it.
    if (dot > 1 && name.slice(0, dot - 1) === type) continue;
    const caller = inSource(app[at + 1] ?? '');
    if (caller === '' || entryName.test(caller) || executorName.test(caller)) return name;
    const helps = helperName.test(name.slice(name.lastIndexOf('.') + 1));
    if (helps && dot === 0) continue;
    const shared =
      helps ||
      answered.test(message) ||
      (lookup.test(message) && !ofDatabase.test(message)) ||
      (dot > 0 && caller.startsWith(name.slice(0, dot)));
    const named = shared ? [name, caller] : [name];
    if (!named.some((part) => formatted.test(part))) named.push(...formatOf(app.slice(at + 1)));
    return named.join(' < ');
  }
  return '';
}
