import { parse, type AnyNode, type Function as FunctionNode, type Program } from 'acorn';
import { fullAncestor } from 'acorn-walk';

/** A position in a module. */
export interface Reference {
  readonly node: AnyNode;
  readonly parent: AnyNode | undefined;
  /** From the program to the node itself. */
  readonly ancestors: readonly AnyNode[];
  readonly line: number;
}

/** A parsed module. */
export interface Source {
  readonly code: string;
  /** String constants by name. */
  readonly constants: ReadonlyMap<string, string>;
  /** Every `import.meta`. */
  readonly metas: readonly Reference[];
  /** Every `import(…)`. */
  readonly imports: readonly Reference[];
  /** Every `createRequire(…)`. */
  readonly requireMakers: readonly Reference[];
  /** The uses of a name that the module does not declare. */
  free(name: string): readonly Reference[];
  /** The reads from a variable. */
  uses(name: string): readonly Reference[];
}

/** Throws a SyntaxError if the code is not JavaScript. */
export function readSource(code: string): Source {
  const metas: Reference[] = [];
  const imports: Reference[] = [];
  const requireMakers: Reference[] = [];
  const byName = new Map<string, Reference[]>();
  const declared = new Set<string>();
  const constants = new Map<string, string>();
  fullAncestor(parsed(code), (node, _state, trail, type) => {
    // A variable that is declared or assigned.
    if (type === 'VariablePattern') return;
    const reference = (): Reference => ({
      node,
      parent: trail.at(-2),
      ancestors: [...trail],
      line: node.loc?.start.line ?? 1,
    });
    if (node.type === 'MetaProperty' && node.meta.name === 'import') metas.push(reference());
    if (node.type === 'ImportExpression') imports.push(reference());
    if (node.type === 'CallExpression' && calledName(node.callee) === 'createRequire')
      requireMakers.push(reference());
    if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier') declared.add(node.id.name);
    if (node.type === 'VariableDeclaration' && node.kind === 'const')
      for (const { id, init } of node.declarations)
        if (id.type === 'Identifier' && init?.type === 'Literal' && typeof init.value === 'string')
          constants.set(id.name, init.value);
    if (node.type === 'FunctionDeclaration' && node.id) declared.add(node.id.name);
    if (node.type === 'ImportDeclaration') for (const { local } of node.specifiers) declared.add(local.name);
    if (node.type === 'Identifier') {
      const known = byName.get(node.name);
      if (known) known.push(reference());
      else byName.set(node.name, [reference()]);
    }
  });
  const uses = (name: string): Reference[] =>
    (byName.get(name) ?? []).filter(({ ancestors }) => !isParameter(ancestors, name));
  const free = (name: string): Reference[] => (declared.has(name) ? [] : uses(name));
  return { code, constants, metas, imports, requireMakers, uses, free };
}

function parsed(code: string): Program {
  const options = {
    ecmaVersion: 'latest',
    locations: true,
    allowHashBang: true,
    allowReturnOutsideFunction: true,
  } as const;
  try {
    return parse(code, { ...options, sourceType: 'module' });
  } catch {
    return parse(code, { ...options, sourceType: 'script', allowAwaitOutsideFunction: true });
  }
}

/** Bundlers wrap modules in functions with parameters such as `require`. */
const isParameter = (ancestors: readonly AnyNode[], name: string): boolean =>
  ancestors.some(
    (node) =>
      'params' in node &&
      (node as FunctionNode).params.some(
        (parameter) => parameter.type === 'Identifier' && parameter.name === name,
      ),
  );

export function nameOf(property: AnyNode): string | undefined {
  if (property.type === 'Identifier') return property.name;
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined;
}

/** The name `join` for `join(…)`, `path.join(…)` and `(0, path.join)(…)`. */
export function calledName(callee: AnyNode): string | undefined {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type === 'MemberExpression') return nameOf(callee.property);
  if (callee.type === 'SequenceExpression') return calledName(callee.expressions.at(-1) as AnyNode);
  return callee.type === 'ParenthesizedExpression' ? calledName(callee.expression) : undefined;
}
