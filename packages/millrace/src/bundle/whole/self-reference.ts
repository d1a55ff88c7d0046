import { isBuiltin } from 'node:module';
import type { AnyNode, Expression, ImportExpression, SpreadElement } from 'acorn';
import { calledName, nameOf, readSource, type Reference, type Source } from './source.ts';

/** The reason why a module only works in the folder of its package. */
export interface SelfReference {
  /** It reads files next to itself, or loads modules by names that are only known at run time. */
  readonly kind: 'files' | 'names';
  readonly line: number;
}

/** Most modules have none of these and are not parsed. */
const suspicious =
  /\b__dirname\b|\b__filename\b|\bimport\s*\.\s*meta\b|\bcreateRequire\b|\bmodule\s*\.\s*(?:require|filename|paths?)\b|\beval\s*\(\s*["'`]quire|\b(?:eval|Function)\s*\([^)]*\b(?:require\b|import\s*\()|\brequire\b(?!\s*\(\s*(["'`])[^"'`$]*\1\s*[,)])|\bimport\s*\((?!\s*(?:\/\*.*?\*\/\s*)*(["'`])[^"'`$]*\2\s*[,)])/;

/** Calls and operators that pass a path on, as in `dirname(fileURLToPath(import.meta.url))`. */
const pathFunctions: ReadonlySet<string> = new Set([
  'URL',
  'dirname',
  'fileURLToPath',
  'join',
  'normalize',
  'pathToFileURL',
  'resolve',
  'toString',
]);
const comparisons: ReadonlySet<string> = new Set(['===', '!==', '==', '!=']);
const tests: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'includes', 'indexOf', 'match']);
const ownPaths: ReadonlySet<string> = new Set(['url', 'dirname', 'filename', 'resolve']);
const ownPathsOfModule: ReadonlySet<string> = new Set(['filename', 'path', 'paths']);

/** Finds the code that prevents a module from being moved into a bundle. */
export function findSelfReference(code: string): SelfReference | undefined {
  if (!suspicious.test(code)) return undefined;
  const source = readSource(code);
  const of = (kind: SelfReference['kind'], line: number | undefined): SelfReference | undefined =>
    line === undefined ? undefined : { kind, line };
  return of('files', usesOwnPath(source)) ?? of('names', loadsByComputedName(source));
}

/** The line of the first module that is loaded by a name that is only known at run time. */
export const findComputedLoad = (code: string): number | undefined =>
  suspicious.test(code) ? loadsByComputedName(readSource(code)) : undefined;

/** The line of the first use of the module's own path, unless it is only compared. */
function usesOwnPath(source: Source): number | undefined {
  const paths = [
    ...['__dirname', '__filename'].flatMap((name) => source.free(name)),
    ...source.metas.filter(({ parent }) => {
      if (parent?.type !== 'MemberExpression') return true;
      const name = nameOf(parent.property);
      return name === undefined || ownPaths.has(name);
    }),
    ...source
      .free('module')
      .filter(
        ({ node, parent }) =>
          parent?.type === 'MemberExpression' &&
          parent.object === node &&
          ownPathsOfModule.has(nameOf(parent.property) ?? ''),
      ),
  ];
  return paths.find((reference) => !isHarmless(source, reference, new Set()))?.line;
}

/** A path that is compared, or stored in an unused variable, is harmless. */
function isHarmless(source: Source, { ancestors }: Reference, seen: Set<string>): boolean {
  for (let at = ancestors.length - 1; at > 0; at -= 1) {
    const node = ancestors[at] as AnyNode;
    const parent = ancestors[at - 1] as AnyNode;
    switch (parent.type) {
      case 'ExpressionStatement':
        return true;
      case 'UnaryExpression':
        return true;
      case 'BinaryExpression':
        if (comparisons.has(parent.operator)) return true;
        break;
      case 'ConditionalExpression':
        if (parent.test === node) return true;
        break;
      case 'MemberExpression':
        if (parent.object !== node) return true;
        if (tests.has(nameOf(parent.property) ?? '')) return true;
        break;
      case 'TemplateLiteral':
      case 'LogicalExpression':
      case 'ParenthesizedExpression':
      case 'ChainExpression':
        break;
      case 'CallExpression':
      case 'NewExpression': {
        const called = calledName(parent.callee);
        if (called === 'createRequire')
          return ancestors[at - 2] !== undefined && loadsOnlyBuiltins(source, ancestors.slice(0, at));
        if (parent.callee !== node && !pathFunctions.has(called ?? '')) return false;
        break;
      }
      case 'VariableDeclarator':
        return parent.id.type === 'Identifier' && isUnused(source, parent.id.name, seen);
      case 'AssignmentExpression':
        if (parent.left === node) return true;
        return parent.left.type === 'Identifier' && isUnused(source, parent.left.name, seen);
      default:
        return false;
    }
  }
  return false;
}

function isUnused(source: Source, name: string, seen: Set<string>): boolean {
  if (seen.has(name)) return true;
  seen.add(name);
  return source.uses(name).every((use) => isHarmless(source, use, seen));
}

/** A `createRequire(…)` whose result is called only with names of built-in modules. */
function loadsOnlyBuiltins(source: Source, toCall: readonly AnyNode[]): boolean {
  const call = toCall.at(-1) as AnyNode;
  const parent = toCall.at(-2);
  if (parent?.type === 'CallExpression' && parent.callee === call)
    return isBuiltinLiteral(parent.arguments[0]);
  if (parent?.type !== 'VariableDeclarator' || parent.id.type !== 'Identifier') return false;
  return onlyBuiltinsBy(source, parent.id.name);
}

function onlyBuiltinsBy(source: Source, loader: string): boolean {
  return source.uses(loader).every(({ node, parent, ancestors }) => {
    if (parent?.type === 'UnaryExpression') return true;
    if (parent?.type === 'CallExpression' && parent.callee === node)
      return isBuiltinLiteral(parent.arguments[0]);
    const shim = shimOf(ancestors);
    return shim !== undefined && onlyBuiltinsBy(source, shim);
  });
}

/** The name of the variable in which esbuild's own output stores its `require`. */
function shimOf(ancestors: readonly AnyNode[]): string | undefined {
  for (const node of ancestors)
    if (
      node.type === 'VariableDeclarator' &&
      node.id.type === 'Identifier' &&
      /^__require\d*$/.test(node.id.name)
    )
      return node.id.name;
  return undefined;
}

/** The line of the first module that is loaded by a name that a bundler cannot know. */
function loadsByComputedName(source: Source): number | undefined {
  for (const { node, line, parent, ancestors } of source.free('require')) {
    if (parent?.type === 'UnaryExpression') continue;
    if (parent?.type === 'CallExpression' && parent.callee === node) {
      if (isComputed(parent.arguments[0], source)) return line;
      continue;
    }
    if (parent?.type === 'MemberExpression' && parent.object === node) {
      const outer = ancestors.at(-3);
      if (nameOf(parent.property) !== 'resolve') continue;
      if (outer?.type === 'CallExpression' && isBuiltinLiteral(outer.arguments[0])) continue;
      return line;
    }
    const shim = shimOf(ancestors);
    if (shim !== undefined && onlyBuiltinsBy(source, shim)) continue;
    return line;
  }
  for (const { node, parent, ancestors, line } of source.free('module')) {
    if (parent?.type !== 'MemberExpression' || parent.object !== node) continue;
    if (nameOf(parent.property) !== 'require') continue;
    const outer = ancestors.at(-3);
    if (outer?.type !== 'CallExpression' || !isBuiltinLiteral(outer.arguments[0])) return line;
  }
  const hidden = ['eval', 'Function']
    .flatMap((name) => source.free(name))
    .find((reference) => isHiddenLoad(reference, source));
  if (hidden) return hidden.line;
  const computed = source.imports.find(({ node }) => isComputed((node as ImportExpression).source, source));
  return (computed ?? source.requireMakers.find((call) => isOfOtherFolder(call, source)))?.line;
}

/** `createRequire` for another folder, such as the working folder. The packages that it loads are only known at run time. */
function isOfOtherFolder({ node, ancestors }: Reference, source: Source): boolean {
  const isOwn = /\bimport\s*\.\s*meta\b|\b__filename\b|\b__dirname\b/.test(
    source.code.slice(node.start, node.end),
  );
  return !isOwn && !loadsOnlyBuiltins(source, ancestors);
}

/** Code in a string that loads modules, as in `new Function('name', 'return import(name)')`. */
function isHiddenLoad({ node, parent }: Reference, { code }: Source): boolean {
  if (parent?.type !== 'CallExpression' && parent?.type !== 'NewExpression') return false;
  const body = parent.callee === node ? parent.arguments.at(-1) : undefined;
  return body !== undefined && /^["'`]quire|\brequire\b|\bimport\s*\(/.test(code.slice(body.start, body.end));
}

/** A name with a part that is not a constant. esbuild resolves a name that ends with its extension as a file pattern. */
function isComputed(argument: Expression | SpreadElement | undefined, { constants }: Source): boolean {
  if (argument === undefined) return false;
  if (argument.type === 'Literal') return false;
  if (argument.type === 'Identifier') return !isBuiltin(constants.get(argument.name) ?? '');
  if (argument.type === 'TemplateLiteral') {
    if (argument.expressions.length === 0) return false;
    const [first, last] = [
      argument.quasis[0]?.value.cooked ?? '',
      argument.quasis.at(-1)?.value.cooked ?? '',
    ];
    return !isPattern(first, last);
  }
  if (argument.type === 'BinaryExpression' && argument.operator === '+')
    return !isPattern(literalAt(argument, 'left'), literalAt(argument, 'right'));
  return true;
}

const isPattern = (first: string, last: string): boolean =>
  first.startsWith('node:') || (/^\.\.?\//.test(first) && /\.\w+$/.test(last));

function literalAt(node: AnyNode, side: 'left' | 'right'): string {
  const at = node.type === 'BinaryExpression' ? node[side] : node;
  if (at.type === 'BinaryExpression') return literalAt(at, side);
  return at.type === 'Literal' && typeof at.value === 'string' ? at.value : '';
}

const isBuiltinLiteral = (node: AnyNode | undefined): boolean =>
  node?.type === 'Literal' && typeof node.value === 'string' && isBuiltin(node.value);
