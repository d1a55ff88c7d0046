import { entriesOf, type Entry } from './entry.ts';

const { works, members, differs, none } = entriesOf('config');

const notLoaded = 'is not loaded: spans and logs go where `millrace` sends them (millrace help tracing)';
const alwaysTogether = 'processes always execute many runs; a task with a `machine` has its own';

/** The settings of `trigger.config.ts`, 4.0 to 4.8. The notes are printed when a project is loaded. */
export const settingRows: readonly Entry[] = [
  ...works('dirs', 'triggerDirectories', 'ignorePatterns', 'tsconfig', 'tsconfigPath'),
  ...works('maxDuration', 'ttl', 'machine', 'logLevel', 'retries'),
  ...members('retries', 'enabledInDev', 'default'),
  ...works('init', 'onStart', 'onSuccess', 'onFailure'),
  ...works('build'),
  ...members('build', 'conditions', 'external', 'extensions', 'jsx'),
  ...members('build', 'jsx.factory', 'jsx.fragment', 'jsx.automatic'),
  ...works('deploy', 'deploy.env'),
  ...none('the key determines the project', 'project'),
  differs('runtime', 'tasks run on the Node.js of their runner'),
  ...none('instrumentations are not loaded: register them in a file of the task folder', 'instrumentations'),
  ...none(notLoaded, 'telemetry'),
  ...none(
    'instrumentations are not loaded: register them in a file of the task folder',
    'telemetry.instrumentations',
  ),
  ...none(notLoaded, 'telemetry.exporters', 'telemetry.logExporters', 'telemetry.metricExporters'),
  ...none(notLoaded, 'telemetry.metricReaders', 'telemetry.resource'),
  ...none(
    'processors are not loaded: attributes of spans are stored unchanged, so remove secrets where they are set',
    'telemetry.spanProcessors',
  ),
  ...none('there is one engine', 'compatibilityFlags'),
  ...none(
    'console output of a task is always in the log of its run',
    'disableConsoleInterceptor',
    'enableConsoleLogging',
  ),
  ...none(
    'packages that cannot be bundled are always detected',
    'build.autoDetectExternal',
    'build.experimental_autoDetectExternal',
  ),
  ...none('names are always kept', 'build.keepNames', 'build.experimental_keepNames'),
  ...none(
    'code is not minified, so that stack traces show its lines',
    'build.minify',
    'build.experimental_minify',
  ),
  ...none(alwaysTogether, 'processKeepAlive', 'experimental_processKeepAlive'),
  ...none(
    'the working directory is the project in development, and the version in deployments',
    'legacyDevProcessCwdBehaviour',
  ),
  ...none('use the extension additionalPackages', 'additionalPackages'),
  ...none('use the extension additionalFiles', 'additionalFiles'),
  ...none('packages are bundled unless they are in build.external', 'dependenciesToBundle'),
  ...none('set NODE_EXTRA_CA_CERTS where `millrace dev` or `millrace work` starts', 'extraCACerts'),
  ...none('run it before `millrace deploy`', 'postInstall'),
];
