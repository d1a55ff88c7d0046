import { bounds } from '../bounds.ts';
import { isMangled } from '../type.ts';
import { isLibraryFunction } from './library.ts';

/** The origin of an error according to its stack. */
export interface Frames {
  /** Node's own fetch precedes the app. Whether frames of the app follow depends on the Node version. */
  throughFetch: boolean;
  /** The module of Node that threw, such as `timers/promises`, if it is one that apps import. */
  module: string;
  /** The first library on the stack, by its package name. */
  library: string;
  /** Named functions of the app, innermost first, at most six. */
  app: string[];
}

const nodeModule = /\(?node:(?!internal\/)([a-z_/]{1,40}):\d/;
const frameLine = /^ {2,16}at /;
const sections = /^(?:Caused by|Originating from)|^ {0,12}(?:\[(?:cause|errors)\]|cause):/;
const elision = /^ {2,16}\.\.\. \d{1,3} lines matching cause stack trace \.\.\.$/;
const holders =
  /^(?:Object|Module|Function|exports|module\.exports|global|globalThis|undefined|default|self|window)\./;
const helperFrames =
  /^(?:_(?:class|async|to|object|create|super|inherits|wrap)_\w{1,60}|asyncGeneratorStep|Generator\.(?:next|throw)|__async|__awaiter|fulfilled|rejected|step|_next|_throw|tryCatch|invoke|adopt|__generator|verb|eval|processTicksAndRejections|process\.processTicksAndRejections|runMicrotasks|new Promise|Promise\.\w+|Array\.\w+|Reflect\.\w+)$/;

/** Reads the `at` lines that follow the header. The message is passed because the stack repeats it, and it may look like frames. */
export function framesOf(stack: string, message: string): Frames {
  const app: Named[] = [];
  const positions: Position[] = [];
  let last = '';
  let seen = 0;
  let throughFetch = false;
  let library = '';
  let module = '';
  let elided = false;
  for (const line of linesAfterHeader(stack, message)) {
    if (!frameLine.test(line)) {
      if (elision.test(line)) {
        // `util.inspect` omits the lines that are shown with the cause below.
        if (app.length > 0) break;
        elided = true;
      } else if (sections.test(line)) {
        if (!elided) break;
        app.length = 0;
        positions.length = 0;
        last = '';
        elided = false;
      }
      continue;
    }
    seen += 1;
    if (seen > bounds.frames) break;
    if (seen === 1) module = nodeModule.exec(line)?.[1] ?? '';
    if (app.length === 0 && line.includes('node:internal/deps/undici/')) throughFetch = true;
    if (library === '') library = packageOf(line);
    // `util.inspect` prints the properties of the error after the last frame.
    const cut = line.slice(0, bounds.line);
    const short = cut.endsWith(' {') ? cut.slice(0, -2) : cut;
    if (library !== '' && app.length >= 6) break;
    const position = positionOf(short);
    if (isForeign(position.file)) continue;
    positions.push(position);
    const found = appFunction(short);
    if (found === undefined || found.name === last) continue;
    last = found.name;
    if (app.length < 12) app.push({ ...found, position });
  }
  const bundled = library === '' && isWholeBundle(positions);
  const own = bundled ? ownRegion(app, positions) : app;
  return {
    app: own
      .filter(
        ({ name, called }) => !bundled || !isLibraryFunction(called, name.slice(name.lastIndexOf('.') + 1)),
      )
      .map(({ name }) => name)
      .slice(0, 6),
    throughFetch,
    module,
    library,
  };
}

interface Named {
  name: string;
  /** The name as in the file: with its containing object, and with a dot after a class that is constructed. */
  called: string;
  position: Position;
}

/** A position in a file. Bundlers put libraries before the code that uses them. */
interface Position {
  file: string;
  line: number;
  column: number;
}

const librariesAhead = 1_500;

/**
 * The functions without those of libraries, in a bundle without a source map. All positions are in one file, and those of libraries are
 * thousands of lines before the app's.
 */
function ownRegion(app: Named[], positions: Position[]): Named[] {
  const furthest = Math.max(0, ...positions.map(({ line }) => line));
  return app.filter(({ position }) => position.line + librariesAhead >= furthest);
}

/** A file that is too long for a single app's sources, or that was minified to long lines. */
function isWholeBundle(positions: Position[]): boolean {
  return (
    positions.every(({ file }) => file === positions[0]?.file) &&
    positions.some(({ line, column }) => line >= 3_000 || column >= 5_000)
  );
}

function positionOf(frame: string): Position {
  const position = locationOf(frame);
  const before = position.lastIndexOf(':');
  const middle = position.lastIndexOf(':', before - 1);
  return middle > 0
    ? {
        file: position.slice(0, middle),
        line: Number(position.slice(middle + 1, before)),
        column: Number(position.slice(before + 1)),
      }
    : { file: position, line: 0, column: 0 };
}

/** The text in parentheses of a frame, or the whole frame if its function has no name. */
function locationOf(frame: string): string {
  const open = frame.endsWith(')') ? openingOf(frame) : -1;
  if (open > 0) return frame.slice(open + 2, -1);
  const text = frame.trimStart().slice(3);
  return text.startsWith('async ') ? text.slice(6) : text;
}

const packageName =
  /node_modules[\\/](?!\.pnpm)((?:@[\w.-]{1,60}[\\/])?[\w.-]{1,80})[\\/](?!.{0,400}node_modules)/;

function packageOf(line: string): string {
  return line.includes('node_modules') ? (packageName.exec(line.slice(0, bounds.line))?.[1] ?? '') : '';
}

function linesAfterHeader(stack: string, message: string): string[] {
  const echoed = message === '' ? -1 : stack.indexOf(message);
  const start = echoed >= 0 ? echoed + message.length : 0;
  return stack.slice(start, start + bounds.stack).split('\n', 200);
}

/** The qualified function of a frame of the app, or nothing for a frame of Node, a library, a helper or a nameless function. */
function appFunction(line: string): { name: string; called: string } | undefined {
  let text = line.trim().slice(3);
  if (text.startsWith('async ')) text = text.slice(6);
  if (!text.endsWith(')')) return undefined;
  const open = openingOf(text);
  if (open <= 0) return undefined;
  let name = text.slice(0, open).trimEnd();
  const alias = name.indexOf(' [as ');
  if (alias > 0) name = name.slice(0, alias);
  if (helperFrames.test(name)) return undefined;
  return plainFunction(name);
}

function openingOf(text: string): number {
  // `eval at f (position), position` nests parentheses, so the first parenthesis that follows a space opens the position.
  return text.indexOf(' (');
}

function isForeign(position: string): boolean {
  return (
    position.startsWith('node:') ||
    position.startsWith('internal/') ||
    position.startsWith('<anonymous>') ||
    position.startsWith('index ') ||
    position === 'native' ||
    position.includes('/node_modules/') ||
    position.includes('\\node_modules\\') ||
    position.startsWith('eval at') ||
    position.includes('evalmachine.')
  );
}

const factory = /^(?:create|make|build|generate|new|to|as|wrap|get|from)\w{0,60}(?:Error|Exception)$/;

function plainFunction(name: string): { name: string; called: string } | undefined {
  let text = name;
  const construct = text.startsWith('new ');
  if (construct) text = text.slice(4);
  while (holders.test(text)) text = text.slice(text.indexOf('.') + 1);
  const written = text.split('.');
  const isPrivate = written.at(-1)?.startsWith('#') === true;
  const parts = written.map(plainPart);
  const own = parts.at(-1) ?? '';
  if (own === '' || own === '<anonymous>' || own === 'anonymous' || own === 'exports' || own.startsWith('<'))
    return undefined;
  if (/^(?:get|set) /.test(own)) return undefined;
  // The origin is not an error class or factory, but its caller.
  if (construct ? /(?:Error|Exception)$/.test(own) : factory.test(own)) return undefined;
  if (isMangled(own)) return undefined;
  const holder = parts.length > 1 ? (parts.at(-2) ?? '') : '';
  if (/(?:Error|Exception)$/.test(holder)) return undefined;
  // An object in lower case is a variable. Whether V8 includes its name depends on the build.
  // V8 includes the class of a private method only if source maps are enabled.
  const qualified = isPrivate || !/^[A-Z]/.test(holder) || isMangled(holder) ? own : `${holder}.${own}`;
  return { name: qualified, called: construct ? `${own}.` : holder === '' ? own : `${holder}.${own}` };
}

function plainPart(part: string): string {
  if (!/[#_2-9]/.test(part)) return part;
  return part
    .replace(/^#/, '')
    .replace(/^_+(?=[A-Z])/, '')
    .replace(/_fn$/, '')
    .replace(/(?<=[a-z])[2-9]$/, '');
}
