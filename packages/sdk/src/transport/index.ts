/** The transport of Node.js. In the built package, `imports` of package.json chooses one for the platform (`build/bundle.ts`). */
export { send, signText } from './node.ts';
