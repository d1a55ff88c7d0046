import { parseSync, Visitor } from 'vite';
import { blank, codeWord, isPhrase, lineAt, passage, type Passage } from './passage.ts';
import { sqlComments, sqlNames } from './sql.ts';

export interface TypeScriptText {
  readonly passages: readonly Passage[];
  /**
   * Names with the line of their first declaration: variables, parameters, functions, types, properties of types and object literals, and
   * all names in SQL of tagged templates.
   */
  readonly names: ReadonlyMap<string, number>;
}

type Range = readonly [start: number, end: number];

/** Comments, string literals, markup text and declared names of a TypeScript file. */
export function readTypeScript(path: string, source: string): TypeScriptText {
  const { program, comments, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const strings: Passage[] = [];
  const names = new Map<string, number>();
  const addName = (name: string, offset: number): void => {
    if (!names.has(name)) names.set(name, lineAt(source, offset));
  };
  const tagged = new Set<number>();
  const addString = (range: Range, clean = cleanString): void => {
    const found = passage('string', source, range, clean);
    if (isPhrase(found.text)) strings.push(found);
  };
  new Visitor({
    Literal: ({ value, start, end }) => {
      if (typeof value === 'string') addString([start + 1, end - 1]);
    },
    TaggedTemplateExpression: ({ quasi }) => {
      const { start, end } = quasi;
      tagged.add(start);
      const text = withoutExpressions(source, [start + 1, end - 1], quasi.expressions);
      for (const { name, offset } of sqlNames(text)) addName(name, start + 1 + offset);
      strings.push(...sqlComments(text).map((found) => shifted(found, source, start + 1)));
    },
    TemplateLiteral: ({ start, end, expressions }) => {
      if (tagged.has(start)) return;
      const text = withoutExpressions(source, [start + 1, end - 1], expressions);
      addString([start + 1, end - 1], () => cleanString(text));
    },
    JSXText: ({ start, end }) => {
      const found = passage('markup', source, [start, end]);
      if (/[a-z]\s+[a-z]/i.test(found.text)) strings.push(found);
    },
    ...nameVisitor(addName),
  }).visit(program);
  const ranges = merged(
    source,
    comments.map(({ start, end }) => [start, end] as const),
  );
  return {
    passages: [...ranges.map((range) => passage('comment', source, range, cleanComment)), ...strings],
    names,
  };
}

const shifted = (found: Passage, source: string, start: number): Passage => ({
  ...found,
  line: found.line + source.slice(0, start).split('\n').length - 1,
});

/** Without escapes. */
const cleanString = (text: string): string =>
  text
    .replaceAll(/\\[nrt]/g, '  ')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/`[^`\n]+`/g, codeWord);

/** Without the marks of comments, directives to tools, tags of JSDoc, and code in backticks. */
const cleanComment = (text: string): string =>
  text
    .replaceAll(/^\s*(?:\/\/+|\/\*+|\*+(?!\/))|\*\/\s*$/gm, blank)
    .replaceAll(/^\s*(?:eslint|oxlint|@ts)-.*$/gm, blank)
    .replace(/```[\s\S]*?```|@example[\s\S]*$/, blank)
    .replaceAll(/`[^`]+`/g, codeWord)
    .replaceAll(/https?:\S+/g, codeWord)
    .replaceAll(/@\w+/g, blank);

/** Line comments below each other are one text. */
function merged(source: string, ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const [start, end] of ranges) {
    const last = all.at(-1);
    const isNext =
      last &&
      source.startsWith('//', start) &&
      source.startsWith('//', last[0]) &&
      /^\n[ \t]*$/.test(source.slice(last[1], start));
    if (isNext) all[all.length - 1] = [last[0], end];
    else all.push([start, end]);
  }
  return all;
}

function withoutExpressions(
  source: string,
  [start, end]: Range,
  expressions: readonly { readonly start: number; readonly end: number }[],
): string {
  let text = source.slice(start, end);
  for (const expression of expressions) {
    // The braces are not part of the expression, and spaces and comments may be between.
    const opening = source.lastIndexOf('${', expression.start) - start;
    const closing = source.indexOf('}', expression.end) - start + 1;
    text = text.slice(0, opening) + codeWord(text.slice(opening, closing)) + text.slice(closing);
  }
  return text;
}

interface Named {
  readonly type: string;
  readonly start: number;
  readonly name?: unknown;
  readonly value?: unknown;
}

/** Calls `add` with each declared name and its position. */
function nameVisitor(add: (name: string, offset: number) => void): ConstructorParameters<typeof Visitor>[0] {
  const addKey = ({ key, shorthand }: { readonly key: Named; readonly shorthand?: boolean }): void => {
    if (shorthand) return;
    if (key.type === 'Identifier' && typeof key.name === 'string') add(key.name, key.start);
    else if (key.type === 'Literal' && typeof key.value === 'string' && /^\w+$/.test(key.value))
      add(key.value, key.start);
  };
  const addId = ({ id }: { readonly id: object | null }): void => addPattern(id);
  const addParams = ({ params }: { readonly params: readonly object[] }): void => params.forEach(addPattern);
  const addPattern = (pattern: object | null): void => {
    const node = pattern as (Record<string, unknown> & Named) | null;
    if (!node) return;
    if (node.type === 'Identifier') add(node.name as string, node.start);
    else if (node.type === 'ObjectPattern')
      (node['properties'] as Record<string, object>[]).forEach((each) =>
        addPattern(each['value'] ?? each['argument'] ?? null),
      );
    else if (node.type === 'ArrayPattern') (node['elements'] as (object | null)[]).forEach(addPattern);
    else addPattern(node['left'] ?? node['argument'] ?? node['parameter'] ?? null);
  };
  return {
    VariableDeclarator: addId,
    FunctionDeclaration: (node) => {
      addId(node);
      addParams(node);
    },
    FunctionExpression: addParams,
    ArrowFunctionExpression: addParams,
    ClassDeclaration: addId,
    CatchClause: ({ param }) => addPattern(param),
    ImportSpecifier: ({ imported, local }) => {
      if ((imported as Named).name !== local.name) add(local.name, local.start);
    },
    TSInterfaceDeclaration: addId,
    TSTypeAliasDeclaration: addId,
    TSEnumDeclaration: addId,
    TSFunctionType: addParams,
    TSPropertySignature: addKey,
    TSMethodSignature: (node) => {
      addKey(node);
      addParams(node);
    },
    PropertyDefinition: addKey,
    MethodDefinition: addKey,
    ObjectExpression: ({ properties }) =>
      properties.forEach((property) => {
        if (property.type === 'Property') addKey(property);
      }),
  };
}
